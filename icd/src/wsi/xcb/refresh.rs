//! Refresh of the display that shows a window, from the modes of RandR (1.3 or newer). A display
//! without a refresh, as in Xvfb, has a mode without a dot clock. Only requests with replies are
//! sent, because the connection and its events belong to the application.

use std::time::Duration;

use x11rb::protocol::randr::{self, ConnectionExt, GetCrtcInfoReply, ModeFlag, ModeInfo};
use x11rb::protocol::xproto::{self, ConnectionExt as _};
use x11rb::xcb_ffi::XCBConnection;

/// Returns the refresh period of the display that shows most of a window; `None` if the server
/// reports none.
pub fn period(connection: &XCBConnection, window: u32) -> Option<Duration> {
    use x11rb::connection::RequestConnection;
    connection.extension_information(randr::X11_EXTENSION_NAME).ok()??;
    let resources = connection.randr_get_screen_resources_current(window).ok()?;
    let geometry = connection.get_geometry(window).ok()?.reply().ok()?;
    let origin = connection.translate_coordinates(window, geometry.root, 0, 0).ok()?.reply().ok()?;
    let resources = resources.reply().ok()?;
    let asked = resources.crtcs.iter();
    let asked = asked.map(|&crtc| connection.randr_get_crtc_info(crtc, resources.config_timestamp).ok());
    let crtcs: Vec<_> = asked.collect::<Vec<_>>().into_iter().filter_map(|cookie| cookie?.reply().ok()).collect();
    let window = xproto::Rectangle { x: origin.dst_x, y: origin.dst_y, width: geometry.width, height: geometry.height };
    let shown = crtcs.iter().filter(|crtc| crtc.mode != 0).max_by_key(|crtc| overlap(crtc, window))?;
    period_of(resources.modes.iter().find(|mode| mode.id == shown.mode)?)
}

/// Returns the number of a window's pixels that a display shows.
fn overlap(crtc: &GetCrtcInfoReply, window: xproto::Rectangle) -> i64 {
    let side = |[from, length]: [i64; 2], [begin, size]: [i64; 2]| {
        ((from + length).min(begin + size) - from.max(begin)).max(0)
    };
    let [x, y] = [(crtc.x, crtc.width, window.x, window.width), (crtc.y, crtc.height, window.y, window.height)]
        .map(|(from, length, begin, size)| side([from.into(), length.into()], [begin.into(), size.into()]));
    x * y
}

/// Returns the refresh period of a mode; `None` without a dot clock, or outside of 1 to 1000 Hz.
fn period_of(mode: &ModeInfo) -> Option<Duration> {
    let has = |flag: ModeFlag| u32::from(mode.mode_flags) & u32::from(flag) != 0;
    let dots = f64::from(mode.htotal) * f64::from(mode.vtotal);
    let dots = if has(ModeFlag::DOUBLE_SCAN) { dots * 2.0 } else { dots };
    let dots = if has(ModeFlag::INTERLACE) { dots / 2.0 } else { dots };
    let seconds = dots / f64::from(mode.dot_clock);
    (0.001..=1.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(dot_clock: u32, [htotal, vtotal]: [u16; 2], flags: ModeFlag) -> ModeInfo {
        ModeInfo { dot_clock, htotal, vtotal, mode_flags: flags, ..Default::default() }
    }

    #[test]
    fn periods_follow_the_dot_clock() {
        let full_hd = |flags| period_of(&mode(148_500_000, [2200, 1125], flags)).map(|period| period.as_micros());
        assert_eq!(full_hd(ModeFlag::from(0u32)), Some(16_666));
        assert_eq!(full_hd(ModeFlag::DOUBLE_SCAN), Some(33_333));
        assert_eq!(full_hd(ModeFlag::INTERLACE), Some(8_333));
        // Xvfb's mode, and modes outside of the range.
        for (clock, size) in [(0, [0, 0]), (0, [2200, 1125]), (u32::MAX, [1, 1]), (1, [2200, 1125])] {
            assert_eq!(period_of(&mode(clock, size, ModeFlag::from(0u32))), None, "{clock} {size:?}");
        }
    }

    #[test]
    fn a_window_is_on_the_display_that_shows_the_most_of_it() {
        let window = xproto::Rectangle { x: 1800, y: -10, width: 200, height: 100 };
        let at = |x, y| GetCrtcInfoReply { x, y, width: 1920, height: 1080, ..Default::default() };
        assert_eq!([at(0, 0), at(1920, 0), at(0, 1080)].map(|crtc| overlap(&crtc, window)), [120 * 90, 80 * 90, 0]);
    }
}
