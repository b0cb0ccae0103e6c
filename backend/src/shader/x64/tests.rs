//! Generated code.

use crate::shader::{spirv, x64};

#[test]
#[ignore = "prints"]
fn listing() {
    let path = std::env::var("SPV").unwrap();
    let bytes = std::fs::read(path).unwrap();
    let words: Vec<u32> = bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    let module = spirv::parse(&words).unwrap();
    for stage in
        [ash::vk::ShaderStageFlags::COMPUTE, ash::vk::ShaderStageFlags::FRAGMENT, ash::vk::ShaderStageFlags::VERTEX]
    {
        let Ok(program) = spirv::compile(&module, "main", stage, &Vec::new()) else { continue };
        println!("{}", program.code.function());
        let generated = x64::generate(program.code.function(), program.code.uniformity(), x64::Target::Avx512).unwrap();
        println!("{}", x64::disassemble(&generated.code.bytes, generated.code.entry));
    }
}
