//! Tests of shaders in text form.

use ash::vk;
use vitric_ir::interface::{FragmentFacts, Shader};

fn samples() -> Vec<Shader> {
    let files: [(&[u8], vk::ShaderStageFlags); 8] = [
        (include_bytes!("../../../tests/shaders/images.comp.spv"), vk::ShaderStageFlags::COMPUTE),
        (include_bytes!("../../../tests/shaders/inputs.frag.spv"), vk::ShaderStageFlags::FRAGMENT),
        (include_bytes!("../../../tests/shaders/subgroups.comp.spv"), vk::ShaderStageFlags::COMPUTE),
        (include_bytes!("../../../tests/shaders/strips.geom.spv"), vk::ShaderStageFlags::GEOMETRY),
        (include_bytes!("../../../../cts/shaders/mesh_own.mesh.spv"), vk::ShaderStageFlags::MESH_EXT),
        (include_bytes!("../../../../cts/shaders/mesh_tasks.task.spv"), vk::ShaderStageFlags::TASK_EXT),
        (include_bytes!("../../../tests/shaders/patches.tesc.spv"), vk::ShaderStageFlags::TESSELLATION_CONTROL),
        (include_bytes!("../../../tests/shaders/patches.tese.spv"), vk::ShaderStageFlags::TESSELLATION_EVALUATION),
    ];
    let compile = |(bytes, stage): (&[u8], vk::ShaderStageFlags)| {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        crate::compile(&crate::parse(&words).unwrap(), "main", stage, &Vec::new()).unwrap()
    };
    files.into_iter().map(compile).collect()
}

#[test]
fn programs_come_back_as_they_were() {
    for shader in samples() {
        let text = shader.to_text(&shader.function);
        let restored = Shader::from_text(&text).unwrap();
        assert_eq!(restored.to_text(&restored.function), text);
        assert_eq!(restored.function.insts, shader.function.insts);
        assert_eq!(restored.interface, shader.interface);
    }
}

#[test]
fn texts_beyond_their_interface_are_refused() {
    let facts = FragmentFacts::default().flags().map(|_| "0").join(" ");
    let interface = format!("stage 32\nsize 16 1 1 0\nshared 0\nfacts {facts}\nresource 0 0\nir\n");
    let restores = |ir: &str| Shader::from_text(&format!("{interface}{ir}")).is_some();
    assert!(restores("%0: i32 = Const 0x0\n%1: i32 = Load buffer 0, %0\n"));
    assert!(!restores("%0: i32 = Const 0x0\n%1: i32 = Load buffer 1, %0\n"));
    assert!(!restores("%0: i32 = Input 0\n"));
    assert!(!restores("%0: i32 = Const 0x0\nOutput 0, %0\n"));
    assert!(!restores("%0: f32 = Const 0x0\n%1: i32 = IAdd %0, %0\n"), "types");
    assert!(!restores("local 2999999\nlocal 2999999\n"));
    assert!(!restores("If %0\nEndIf\n"));
    assert!(Shader::from_text("stage 32\nsize 70000 70000 1 0\nir\n").is_none());
}

#[test]
fn damaged_texts_are_survived() {
    for shader in samples() {
        let text = shader.to_text(&shader.function);
        for at in (0..text.len()).step_by(61) {
            drop(Shader::from_text(&text[..at]));
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << (at % 7);
            drop(Shader::from_text(&String::from_utf8_lossy(&bytes)));
        }
    }
}
