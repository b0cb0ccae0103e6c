//! Pipelines that are the same share what their programs have become.

use std::sync::Arc;

use ash::vk;
use vitric_exec::Program;

use super::GraphicsPipeline;

/// Whether two programs are one, or both are missing.
fn is_one(a: Option<&Arc<Program>>, b: Option<&Arc<Program>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
}

/// The numbers of a viewport.
fn numbers(of: &vk::Viewport) -> [f32; 6] {
    [of.x, of.y, of.width, of.height, of.min_depth, of.max_depth]
}

impl GraphicsPipeline {
    /// Whether another pipeline has the same programs and the same state, so that kernels of one are those of the other.
    pub fn is_like(&self, other: &Self) -> bool {
        // All fields are named, so that none is forgotten.
        let Self {
            vertex,
            task,
            patches,
            patch_state,
            geometry,
            fragment,
            bindings,
            attributes,
            topology,
            primitive_restart,
            viewports,
            scissors,
            raster,
            multisample,
            rate,
            depth_stencil,
            logic_op,
            blend,
            color_formats,
            blend_constants,
            dynamic,
            latent,
            reads_attachments,
            exact_vertices,
            vertex_kernel: _,
            tessellation_kernel: _,
            merged_kernel: _,
            kernels: _,
            variants: _,
            inlined: _,
        } = self;
        let patch_programs = |of: &Self| {
            of.patches.as_ref().map(|programs| [Arc::as_ptr(&programs.control), Arc::as_ptr(&programs.evaluation)])
        };
        Arc::ptr_eq(vertex, &other.vertex)
            && is_one(fragment.as_ref(), other.fragment.as_ref())
            && is_one(task.as_ref(), other.task.as_ref())
            && is_one(geometry.as_ref(), other.geometry.as_ref())
            && patches.is_some() == other.patches.is_some()
            && patch_programs(self) == patch_programs(other)
            && *patch_state == other.patch_state
            && *bindings == other.bindings
            && *attributes == other.attributes
            && (*topology, *primitive_restart) == (other.topology, other.primitive_restart)
            && viewports.iter().map(numbers).eq(other.viewports.iter().map(numbers))
            && *scissors == other.scissors
            && *raster == other.raster
            && *multisample == other.multisample
            && *rate == other.rate
            && *depth_stencil == other.depth_stencil
            && *logic_op == other.logic_op
            && *blend == other.blend
            && *color_formats == other.color_formats
            && *blend_constants == other.blend_constants
            && *dynamic == other.dynamic
            && *latent == other.latent
            && (*reads_attachments, *exact_vertices) == (other.reads_attachments, other.exact_vertices)
    }

    /// Takes over what the programs of a pipeline that [is like](Self::is_like) this one have become, and will.
    pub fn share(&mut self, other: &Self) {
        self.vertex_kernel = other.vertex_kernel.clone();
        self.tessellation_kernel = other.tessellation_kernel.clone();
        self.merged_kernel = other.merged_kernel.clone();
        self.kernels = other.kernels.clone();
    }
}
