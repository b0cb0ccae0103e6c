// Environment: vulkan1.1
#version 450
#extension GL_NV_compute_shader_derivatives : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 12, local_size_y = 4, local_size_z = 2) in;
layout(derivative_group_linearNV) in;
layout(binding = 0) buffer Out { vec4 rates[96]; } target;
layout(binding = 1) buffer Lods { vec4 lods[96]; } others;
void main() {
    vec3 at = vec3(gl_LocalInvocationID);
    float value = at.x * at.x + at.y * 100.0 + at.x * at.y * 10.0 + at.z * 1000.0;
    target.rates[gl_LocalInvocationIndex] = vec4(dFdxFine(value), dFdyFine(value), dFdxCoarse(value), fwidthFine(value));
    others.lods[gl_LocalInvocationIndex] = vec4(subgroupQuadSwapHorizontal(at.x), subgroupQuadSwapVertical(at.y), dFdyCoarse(at.y), at.z);
}
