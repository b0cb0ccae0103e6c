#version 450
// Environment: vulkan1.1
// NaN, zeros of both signs and counts beyond the width, in numbers of every width.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = 16) in;
// Optimisers take a division by a literal 0 for anything.
layout(constant_id = 0) const uint NOTHING = 0;
layout(set = 0, binding = 0) writeonly buffer Results { uint results[]; };
layout(set = 0, binding = 1) readonly buffer Words { uint words[]; };
spirv_instruction(id = 138) int remainder(int a, int b);
spirv_instruction(id = 138) int64_t remainder(int64_t a, int64_t b);
spirv_instruction(id = 138) int16_t remainder(int16_t a, int16_t b);
uint at;
void put(uint word) { results[at++] = word; }
void put(float value) { put(floatBitsToUint(value)); }
void put(double value) {
    uvec2 halves = unpackDouble2x32(value);
    put(halves.x);
    put(halves.y);
}
void put(float16_t value) { put(uint(float16BitsToUint16(value))); }
void put(int64_t value) {
    uvec2 halves = unpackUint2x32(uint64_t(value));
    put(halves.x);
    put(halves.y);
}
void main() {
    uint lane = gl_LocalInvocationIndex;
    at = lane * 77;
    float x = uintBitsToFloat(words[lane]), y = uintBitsToFloat(words[(lane * 5 + 3) & 15]);
    put(min(x, y));
    put(max(x, y));
    put(min(x, 1.0));
    put(max(x, 0.0));
    put(max(0.0, x));
    put(clamp(x, -1.0, 1.0));
    put(clamp(x, y, 1.0));
    put(min(min(x, 0.5), y));
    put(smoothstep(0.0, 1.0, x));
    put(smoothstep(y, y, x));
    put(pow(x, 0.0));
    put(pow(x, 2.0));
    put(pow(x, 5.0));
    put(isnan(atan(x, y)) ? 1u : 0u);
    put(packSnorm2x16(vec2(x, y)));
    put(packUnorm4x8(vec4(x, y, y, x)));
    put(subgroupMin(x));
    put(subgroupMax(x));
    put(subgroupInclusiveMax(x));
    double dx = packDouble2x32(uvec2(0, words[16 + lane])), dy = packDouble2x32(uvec2(0, words[16 + ((lane * 5 + 3) & 15)]));
    put(min(dx, dy));
    put(max(dx, dy));
    put(clamp(dx, 0.0LF, 1.0LF));
    put(roundEven(dx));
    put(floor(dx));
    float16_t hx = float16_t(x), hy = float16_t(y);
    put(min(hx, hy));
    put(max(hx, float16_t(0.0)));
    put(pow(hx, float16_t(2.0)));
    int count = int(words[32 + lane]);
    put(uint(0x12345678 << count));
    put(uint(0x87654321 >> count));
    put(0x87654321u >> count);
    int64_t wide = int64_t(0x8765432112345678UL);
    put(wide << count);
    put(wide >> count);
    int16_t narrow = int16_t(0x8421);
    put(uint(uint16_t(narrow << count)));
    put(uint(uint16_t(narrow >> count)));
    int8_t least = int8_t(0x91);
    put(uint(uint8_t(least >> count)));
    put(uint(bitfieldExtract(0x12345678, count, 4)));
    put(uint(bitfieldInsert(0x12345678, 0xa, count & 35, 4)));
    put(uint(bitfieldExtract(0x87654321, 3, count)));
    put(bitfieldExtract(0x87654321u, 3, count));
    put(uint(bitfieldExtract(0x87654321, count, 20)));
    put(sign(x));
    put(sign(dx));
    put(sign(hx));
    uint a = words[(lane * 5 + 3) & 15], b = words[48 + lane];
    put(a / b);
    put(a % b);
    put(uint(int(a) / int(b)));
    put(uint(int(a) % int(b)));
    put(uint(remainder(int(a), int(b))));
    uvec2 quotients = uvec2(a, 77u) / uvec2(b), rests = uvec2(a, 77u) % b;
    put(quotients.y);
    put(rests.y);
    put(a / NOTHING);
    put(a % NOTHING);
    put(a % 3u);
    int64_t wide_a = packInt2x32(ivec2(lane, a)), wide_b = int64_t(int(b));
    put(int64_t(uint64_t(wide_a) / uint64_t(wide_b)));
    put(int64_t(uint64_t(wide_a) % uint64_t(wide_b)));
    put(wide_a / wide_b);
    put(wide_a % wide_b);
    put(remainder(wide_a, wide_b));
    put(int64_t(uint64_t(wide_a) / uint64_t(NOTHING)));
    put(uint(uint16_t(a >> 16) / uint16_t(b)));
    put(uint(uint16_t(a >> 16) % uint16_t(b)));
    put(uint(uint16_t(int16_t(a >> 16) / int16_t(b))));
    put(uint(uint16_t(remainder(int16_t(a >> 16), int16_t(b)))));
}
