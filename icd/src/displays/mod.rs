//! Displays without a window system: the displays of DRM nodes, their modes, and the planes of the
//! nodes. A display is a connector of a node, and a plane is a controller (CRTC) of one. Images
//! have the size of the mode.

mod card;
pub mod mode;
mod plane;

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use drm::control::{Device as _, Mode, connector, crtc};
use parking_lot::Mutex;

pub use self::card::Card;
pub use self::plane::{Output, PlaneSurface};
use crate::handles::Table;

/// Extensions that need a display.
const EXTENSIONS: [&str; 2] = ["VK_KHR_display", "VK_KHR_get_display_properties2"];

/// Returns true if an extension is available on this host. The extensions of displays are available
/// only if the process can use a display when it first asks.
pub fn is_available(extension: &str) -> bool {
    static CAN_USE_ANY: OnceLock<bool> = OnceLock::new();
    !EXTENSIONS.contains(&extension) || *CAN_USE_ANY.get_or_init(Card::can_use_any)
}

/// A display.
pub struct Display {
    /// Node of the display.
    pub card: Arc<Card>,
    /// Connector of the display.
    pub connector: connector::Handle,
    /// Name of the connector, such as `HDMI-A-1`.
    pub name: CString,
    /// Handles of its modes.
    modes: Mutex<Vec<ListedMode>>,
}

/// A mode with its handle.
#[derive(Clone, Copy)]
pub struct ListedMode {
    /// Handle.
    pub handle: vk::DisplayModeKHR,
    /// Parameters.
    pub parameters: vk::DisplayModeParametersKHR,
}

/// A mode of a display.
pub struct DisplayMode {
    /// The display.
    pub display: Arc<Display>,
    /// Timing that the kernel lists.
    pub mode: Mode,
    /// Parameters.
    pub parameters: vk::DisplayModeParametersKHR,
}

/// A plane: a controller of a node.
pub struct Plane {
    /// Node of the plane.
    pub card: Arc<Card>,
    /// Controller.
    pub controller: crtc::Handle,
}

/// The displays of an instance. Their handles live as long as the instance.
pub struct Displays {
    cards: Vec<Arc<Card>>,
    /// Displays by handle.
    pub displays: Table<Arc<Display>>,
    /// Modes by handle.
    pub modes: Table<Arc<DisplayMode>>,
    /// Handles of all displays that were listed.
    listed: Mutex<Vec<(vk::DisplayKHR, Arc<Display>)>>,
}

impl Displays {
    /// Opens the nodes of displays, if an enabled extension needs them.
    pub fn open(extensions: &[String]) -> Self {
        let is_needed = extensions.iter().any(|name| EXTENSIONS.contains(&name.as_str()));
        let cards = if is_needed { Card::open_all() } else { Vec::new() };
        Self { cards, displays: Table::new(26), modes: Table::new(27), listed: Mutex::default() }
    }

    /// Returns the handles of the connected displays.
    pub fn connected(&self) -> Vec<(vk::DisplayKHR, connector::Info)> {
        let connectors = |card: &Arc<Card>| {
            let infos = card.connectors().into_iter().filter_map(|connector| card.get_connector(connector, false).ok());
            let connected = infos.filter(|info| info.state() == connector::State::Connected);
            let shows = connected.filter(|info| info.modes().iter().any(|mode| mode::parameters(mode).is_some()));
            shows.map(|info| (self.handle(card, &info), info)).collect::<Vec<_>>()
        };
        self.cards.iter().flat_map(connectors).collect()
    }

    /// Returns the handle of a display.
    fn handle(&self, card: &Arc<Card>, info: &connector::Info) -> vk::DisplayKHR {
        let mut listed = self.listed.lock();
        let is_it = |display: &Display| Arc::ptr_eq(&display.card, card) && display.connector == info.handle();
        if let Some((handle, _)) = listed.iter().find(|(_, display)| is_it(display)) {
            return *handle;
        }
        let name = CString::new(info.to_string()).unwrap_or_default();
        let display = Arc::new(Display { card: card.clone(), connector: info.handle(), name, modes: Mutex::default() });
        let handle = vk::DisplayKHR::from_raw(self.displays.insert(display.clone()));
        listed.push((handle, display));
        handle
    }

    /// Returns the modes of a display with different parameters. The preferred one comes first.
    pub fn modes_of(&self, display: &Arc<Display>) -> Vec<ListedMode> {
        let info = display.card.get_connector(display.connector, false);
        let modes = info.map_or_else(|_| Vec::new(), |info| info.modes().to_vec());
        let mut found: Vec<ListedMode> = Vec::new();
        for mode in modes {
            let Some(parameters) = mode::parameters(&mode) else { continue };
            if found.iter().all(|other| !mode::are_equal(&other.parameters, &parameters)) {
                found.push(self.listed_mode(display, mode, parameters));
            }
        }
        found
    }

    fn listed_mode(&self, display: &Arc<Display>, mode: Mode, parameters: vk::DisplayModeParametersKHR) -> ListedMode {
        let mut listed = display.modes.lock();
        if let Some(found) = listed.iter().find(|other| mode::are_equal(&other.parameters, &parameters)) {
            return *found;
        }
        let object = Arc::new(DisplayMode { display: display.clone(), mode, parameters });
        let made = ListedMode { handle: vk::DisplayModeKHR::from_raw(self.modes.insert(object)), parameters };
        listed.push(made);
        made
    }

    /// Returns all planes, by index.
    pub fn planes(&self) -> Vec<Plane> {
        let planes = |card: &Arc<Card>| {
            let plane = |controller| Plane { card: card.clone(), controller };
            card.controllers().into_iter().map(plane).collect::<Vec<_>>()
        };
        self.cards.iter().flat_map(planes).collect()
    }
}

impl Plane {
    /// Returns true if the plane can be shown by a display.
    pub fn supports(&self, display: &Display) -> bool {
        let info = display.card.get_connector(display.connector, false);
        Arc::ptr_eq(&self.card, &display.card) && info.is_ok_and(|info| self.card.can_drive(self.controller, &info))
    }
}
