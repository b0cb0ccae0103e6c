#version 450
// Every way to sample, gather, fetch and query, on every dimensionality.
layout(set = 0, binding = 0) uniform sampler1D s1;
layout(set = 0, binding = 1) uniform sampler2D s2[4];
layout(set = 0, binding = 2) uniform sampler3D s3;
layout(set = 0, binding = 3) uniform samplerCube sc;
layout(set = 0, binding = 4) uniform sampler1DArray s1a;
layout(set = 0, binding = 5) uniform sampler2DArray s2a;
layout(set = 0, binding = 6) uniform samplerCubeArray sca;
layout(set = 0, binding = 7) uniform sampler2DShadow d2;
layout(set = 0, binding = 8) uniform samplerCubeShadow dc;
layout(set = 0, binding = 9) uniform sampler2DArrayShadow d2a;
layout(set = 0, binding = 10) uniform samplerCubeArrayShadow dca;
layout(set = 0, binding = 11) uniform sampler2DMS ms;
layout(set = 0, binding = 12) uniform sampler2DMSArray msa;
layout(set = 0, binding = 13) uniform isampler2D si;
layout(set = 0, binding = 14) uniform usamplerBuffer buffers;
layout(set = 0, binding = 15) uniform texture2D t2;
layout(set = 0, binding = 16) uniform sampler plain[2];
layout(set = 0, binding = 17) uniform samplerShadow comparing;
layout(set = 0, binding = 18) uniform texture2DArray t2a;
layout(set = 0, binding = 19) uniform samplerBuffer fb;
layout(push_constant) uniform Push { int which; };
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 color;

vec4 helper(sampler2D s, vec2 at) { return texture(s, at); }
vec4 split(texture2D t, vec2 at) { return texture(sampler2D(t, plain[which]), at); }

void main() {
    vec4 c = texture(s1, p.x) + texture(s2[which], p.xy, 0.5) + texture(s3, p.xyz) + texture(sc, p.xyz);
    c += texture(s1a, p.xy) + texture(s2a, p.xyz) + texture(sca, p);
    c.x += texture(d2, p.xyz) + texture(dc, p) + texture(d2a, p) + texture(dca, p, 0.5);
    c += textureProj(s2[0], p.xyz) + textureProj(s2[1], p) + textureProjOffset(s1, p.xy, 1) + textureProjGrad(s3, p, p.xyz, p.yzw);
    c.x += textureProj(d2, p) + textureProjLod(d2, p, 1.0) + textureLod(d2, p.xyz, 0.0) + textureGrad(d2, p.xyz, p.xy, p.zw);
    c += textureLod(s2a, p.xyz, p.w) + textureLodOffset(s2[2], p.xy, 1.0, ivec2(1, -2)) + textureOffset(s2[3], p.xy, ivec2(3), 0.25);
    c += textureGrad(sc, p.xyz, p.xyz, p.yzw) + textureGradOffset(s2a, p.xyz, p.xy, p.zw, ivec2(-1));
    c += texelFetch(s1, 3, 0) + texelFetch(s2[0], ivec2(1), 2) + texelFetchOffset(s3, ivec3(1), 0, ivec3(1)) + texelFetch(s2a, ivec3(2), 0);
    c += texelFetch(ms, ivec2(p.xy), which) + texelFetch(msa, ivec3(p.xyz), 1) + vec4(texelFetch(si, ivec2(1), 0)) + vec4(texelFetch(buffers, 5));
    c += textureGather(s2[0], p.xy, 3) + textureGather(s2a, p.xyz) + textureGather(sc, p.xyz, 1) + textureGatherOffset(s2[1], p.xy, ivec2(which));
    const ivec2 offsets[4] = ivec2[4](ivec2(0), ivec2(1, 2), ivec2(-3, 4), ivec2(5));
    c += textureGatherOffsets(s2[0], p.xy, offsets, 2) + textureGather(d2, p.xy, p.z) + textureGatherOffset(d2a, p.xyz, p.w, ivec2(1));
    c += helper(s2[1], p.xy) + split(t2, p.yx) + texture(sampler2DArray(t2a, plain[0]), p.xyz) + vec4(texture(sampler2DShadow(t2, comparing), p.xyz));
    c.xy += textureQueryLod(s2[0], p.xy) + textureQueryLod(sca, p.xyz);
    c.z += float(textureQueryLevels(s3) + textureSamples(ms) + textureSize(s2a, 1).z + textureSize(msa).x + textureSize(sca, 0).z + textureSize(buffers));
    c += texelFetch(fb, which);
    c.x += float(textureSize(d2a, 0).x);
    color = c;
}
