//! Private data slots of objects.

use ash::vk::{self, Handle};

use crate::harness::{Case, Gpu, check};

case!("core13.objects.private_data", "VK_EXT_private_data", private_data);

fn private_data(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PRIVATE_DATA_NAME)?;
    let commands = ash::ext::private_data::Device::new(&gpu.instance, &gpu.device);
    let (device, commands) = (gpu.device.handle(), commands.fp());
    let info = vk::PrivateDataSlotCreateInfo::default();
    let usage = vk::BufferUsageFlags::TRANSFER_SRC;
    // SAFETY: valid usage.
    unsafe {
        let slot = || {
            let mut slot = vk::PrivateDataSlot::null();
            let made =
                (commands.create_private_data_slot_ext)(device, &raw const info, std::ptr::null(), &raw mut slot);
            made.result().map(|()| slot)
        };
        let get = |kind, object, slot| {
            let mut value = u64::MAX;
            (commands.get_private_data_ext)(device, kind, object, slot, &raw mut value);
            value
        };
        let set =
            |kind, object, slot, value| (commands.set_private_data_ext)(device, kind, object, slot, value).result();
        let (first, other) = (slot()?, slot()?);
        let buffer = gpu.device.create_buffer(&vk::BufferCreateInfo::default().size(64).usage(usage), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
        let list = gpu.device.allocate_command_buffers(&info)?[0];
        for (kind, object) in [
            (vk::ObjectType::BUFFER, buffer.as_raw()),
            (vk::ObjectType::COMMAND_BUFFER, list.as_raw()),
            (vk::ObjectType::DEVICE, device.as_raw()),
        ] {
            check(get(kind, object, first) == 0, || format!("{kind:?} begins with data"))?;
            set(kind, object, first, 1 << 50)?;
            set(kind, object, other, 7)?;
            let found = (get(kind, object, first), get(kind, object, other));
            check(found == (1 << 50, 7), || format!("{kind:?} has {found:?}"))?;
        }
        (commands.destroy_private_data_slot_ext)(device, other, std::ptr::null());
        let again = slot()?;
        check(get(vk::ObjectType::BUFFER, buffer.as_raw(), again) == 0, || "a new slot has old data".into())?;
        gpu.device.free_command_buffers(gpu.pool, &[list]);
        let lists: Vec<_> = (0..8).map(|_| gpu.device.allocate_command_buffers(&info)).collect();
        for list in lists {
            let found = get(vk::ObjectType::COMMAND_BUFFER, list?[0].as_raw(), first);
            check(found == 0, || "a new command buffer has data of an old one".into())?;
        }
    }
    Ok(())
}
