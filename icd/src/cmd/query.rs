//! Queries, including queries of vertex streams, and timestamps. Source: Vulkan specification,
//! "Queries"; `VK_EXT_transform_feedback`, `VK_KHR_synchronization2`.

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::Command;

use super::Recorder;
use crate::object::need;

#[entry(vkCmdBeginQuery)]
fn begin_query(recorder: Recorder<'_>, pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags) -> Result<()> {
    begin_query_indexed(recorder, pool, query, flags, 0)
}

#[entry(vkCmdEndQuery)]
fn end_query(recorder: Recorder<'_>, pool: vk::QueryPool, query: u32) -> Result<()> {
    end_query_indexed(recorder, pool, query, 0)
}

#[entry(vkCmdBeginQueryIndexedEXT)]
fn begin_query_indexed(
    recorder: Recorder<'_>,
    pool: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
    stream: u32,
) -> Result<()> {
    let object = recorder.device;
    let precise = flags.contains(vk::QueryControlFlags::PRECISE);
    recorder.record(Command::BeginQuery { pool: need(object, &object.queries, pool)?, query, precise, stream })
}

#[entry(vkCmdEndQueryIndexedEXT)]
fn end_query_indexed(recorder: Recorder<'_>, pool: vk::QueryPool, query: u32, stream: u32) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::EndQuery { pool: need(object, &object.queries, pool)?, query, stream })
}

#[entry(vkCmdResetQueryPool)]
fn reset_query_pool(recorder: Recorder<'_>, pool: vk::QueryPool, first: u32, count: u32) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::ResetQueryPool { pool: need(object, &object.queries, pool)?, first, count })
}

#[entry(vkCmdWriteTimestamp)]
fn write_timestamp(recorder: Recorder<'_>, _: vk::PipelineStageFlags, pool: vk::QueryPool, query: u32) -> Result<()> {
    write_timestamp2(recorder, pool, query)
}

#[entry(vkCmdWriteTimestamp2)]
fn write_timestamp2(recorder: Recorder<'_>, _: vk::PipelineStageFlags2, pool: vk::QueryPool, query: u32) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::WriteTimestamp { pool: need(object, &object.queries, pool)?, query })
}

#[expect(clippy::too_many_arguments, reason = "the parameters of the command")]
#[entry(vkCmdCopyQueryPoolResults)]
fn copy_query_pool_results(
    recorder: Recorder<'_>,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> Result<()> {
    let object = recorder.device;
    let pool = need(object, &object.queries, pool)?;
    let target = need(object, &object.buffers, target)?;
    recorder.record(Command::CopyQueryPoolResults { pool, first, count, target, offset, stride, flags })
}
