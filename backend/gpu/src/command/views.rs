//! Multiview: the commands of a subpass are executed once for each of its views.
//!
//! A view is a layer of the attachments and a number that programs see. Every view begins with the
//! state with which the first view began, so the commands do not depend on views. Source:
//! `VK_KHR_multiview`.

use super::Command;
use super::processor::Processor;
use crate::gpu::DeviceLost;

impl Processor<'_> {
    /// Executes the commands of the subpass that has just begun once per view, if the subpass has
    /// views.
    ///
    /// `bytes` is the inline data of the list. Returns the commands that are left to execute.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn views<'c>(&mut self, commands: &'c [Command], bytes: &[u8]) -> Result<&'c [Command], DeviceLost> {
        let mask = self.pass.as_ref().map_or(0, |pass| pass.subpass().view_mask);
        if mask == 0 {
            return Ok(commands);
        }
        let ends = |command: &Command| matches!(command, Command::NextSubpass | Command::EndPass);
        let end = commands.iter().position(ends).unwrap_or(commands.len());
        let (inside, behind) = commands.split_at(end);
        let begun = self.state.clone();
        for (number, view) in (0..u32::BITS).filter(|view| mask >> view & 1 != 0).enumerate() {
            self.go_on_with(begun.clone());
            self.begin_view(number as u32, view);
            inside.iter().try_for_each(|command| self.command(command, bytes))?;
            self.deadline.begin();
            self.flush()?;
        }
        self.view_number = 0;
        self.state.set_view(0);
        Ok(behind)
    }

    fn begin_view(&mut self, number: u32, view: u32) {
        self.view_number = number;
        self.state.set_view(view);
        if let Some(mut pass) = self.pass.take() {
            pass.set_view(view);
            self.begin_depth(&pass);
            self.pass = Some(pass);
        }
    }
}
