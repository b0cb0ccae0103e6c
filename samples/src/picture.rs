//! Finished pictures: RGBA8 pixels, PNG in and out, and the comparison with a reference.

use crate::error::{Error, Result};
use std::path::Path;

/// A picture of `width * height` RGBA8 pixels, rows from the top, sRGB-encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

/// Differences between two pictures over red, green and blue, in steps of 1/255.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean absolute difference.
    pub mean: f64,
    /// Share of pixels (0 to 1) with a channel that differs by more than 16.
    pub far: f64,
    /// Largest difference.
    pub max: u8,
}

impl Picture {
    /// Encodes an opaque PNG. The alpha of a scene has no meaning.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let rgb: Vec<u8> = self.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&rgb)?;
        Ok(bytes)
    }

    /// Writes a PNG file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let file = |source| Error::File { path: path.to_path_buf(), source };
        std::fs::write(path, self.to_png()?).map_err(file)
    }

    /// Reads an 8-bit RGB or RGBA PNG file.
    pub fn load(path: &Path) -> Result<Picture> {
        let file = |source| Error::File { path: path.to_path_buf(), source };
        let bytes = std::fs::read(path).map_err(file)?;
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
        let size = reader.output_buffer_size().ok_or_else(|| Error::Picture("the PNG is too large".into()))?;
        let mut data = vec![0; size];
        let info = reader.next_frame(&mut data)?;
        let rgba = match (info.color_type, info.bit_depth) {
            (png::ColorType::Rgb, png::BitDepth::Eight) => {
                data.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect()
            }
            (png::ColorType::Rgba, png::BitDepth::Eight) => data,
            other => {
                return Err(Error::Picture(format!(
                    "{}: format {other:?}: expected 8-bit RGB or RGBA",
                    path.display()
                )));
            }
        };
        Ok(Picture { width: info.width, height: info.height, rgba })
    }

    /// Compares with another picture of the same size.
    pub fn difference(&self, other: &Picture) -> Result<Difference> {
        if (self.width, self.height) != (other.width, other.height) {
            let sizes = (self.width, self.height, other.width, other.height);
            return Err(Error::Picture(format!(
                "pictures of the sizes {sizes:?} cannot be compared: expected equal sizes"
            )));
        }
        let (mut sum, mut far, mut max) = (0u64, 0u64, 0u8);
        for (a, b) in self.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)) {
            let steps = [a[0].abs_diff(b[0]), a[1].abs_diff(b[1]), a[2].abs_diff(b[2])];
            let largest = steps.into_iter().max().unwrap_or(0);
            sum += steps.iter().map(|&s| u64::from(s)).sum::<u64>();
            far += u64::from(largest > 16);
            max = max.max(largest);
        }
        let pixels = f64::from(self.width) * f64::from(self.height);
        Ok(Difference { mean: sum as f64 / (3.0 * pixels), far: far as f64 / pixels, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker(step: u8) -> Picture {
        let rgba = (0..64u8).flat_map(|i| [i * 4, step, 255 - i * 4, 255]).collect();
        Picture { width: 16, height: 4, rgba }
    }

    #[test]
    fn a_png_reads_back_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("vitric-picture-{}.png", std::process::id()));
        checker(7).save(&path).unwrap();
        let back = Picture::load(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(back, checker(7));
    }

    #[test]
    fn differences_are_counted_over_three_channels() {
        let difference = checker(10).difference(&checker(40)).unwrap();
        assert_eq!(difference, Difference { mean: 10.0, far: 1.0, max: 30 });
        assert!(checker(0).difference(&Picture { width: 1, height: 1, rgba: vec![0; 4] }).is_err());
    }
}
