#version 450
// Adds the first words of sixteen sets, each shifted by its set, to the second word of the last set.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Block_a { uint words[2]; } a;
layout(set = 1, binding = 0, std430) buffer Block_b { uint words[2]; } b;
layout(set = 2, binding = 0, std430) buffer Block_c { uint words[2]; } c;
layout(set = 3, binding = 0, std430) buffer Block_d { uint words[2]; } d;
layout(set = 4, binding = 0, std430) buffer Block_e { uint words[2]; } e;
layout(set = 5, binding = 0, std430) buffer Block_f { uint words[2]; } f;
layout(set = 6, binding = 0, std430) buffer Block_g { uint words[2]; } g;
layout(set = 7, binding = 0, std430) buffer Block_h { uint words[2]; } h;
layout(set = 8, binding = 0, std430) buffer Block_i { uint words[2]; } i;
layout(set = 9, binding = 0, std430) buffer Block_j { uint words[2]; } j;
layout(set = 10, binding = 0, std430) buffer Block_k { uint words[2]; } k;
layout(set = 11, binding = 0, std430) buffer Block_l { uint words[2]; } l;
layout(set = 12, binding = 0, std430) buffer Block_m { uint words[2]; } m;
layout(set = 13, binding = 0, std430) buffer Block_n { uint words[2]; } n;
layout(set = 14, binding = 0, std430) buffer Block_o { uint words[2]; } o;
layout(set = 15, binding = 0, std430) buffer Block_p { uint words[2]; } p;
void main() {
    uint first = (a.words[0] << 0u) + (b.words[0] << 1u) + (c.words[0] << 2u) + (d.words[0] << 3u) + (e.words[0] << 4u) + (f.words[0] << 5u) + (g.words[0] << 6u) + (h.words[0] << 7u);
    uint second = (i.words[0] << 8u) + (j.words[0] << 9u) + (k.words[0] << 10u) + (l.words[0] << 11u) + (m.words[0] << 12u) + (n.words[0] << 13u) + (o.words[0] << 14u) + (p.words[0] << 15u);
    p.words[1] = first + second;
}
