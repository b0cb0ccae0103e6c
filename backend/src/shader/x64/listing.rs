//! Generated code as text, for people.

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

/// Disassembles code from its entry on: one instruction a line, with its offset from the entry.
pub fn disassemble(bytes: &[u8], entry: usize) -> String {
    let mut decoder = Decoder::with_ip(64, &bytes[entry..], 0, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let (mut out, mut text) = (String::new(), String::new());
    while decoder.can_decode() {
        let inst = decoder.decode();
        text.clear();
        formatter.format(&inst, &mut text);
        out += &format!("{:6x}  {text}\n", inst.ip());
    }
    out
}
