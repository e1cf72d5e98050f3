//! The icons: strokes on a field of 24, drawn at 16 px. Outlines follow Lucide (ISC), but for Sheaf's own mark.

use leptos::prelude::*;

macro_rules! icons {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        /// Which icon.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Glyph {
            $($(#[$doc])* $name,)*
        }

        impl Glyph {
            fn path(self) -> &'static str {
                match self {
                    $(Self::$name => $path,)*
                }
            }
        }
    };
}

icons! {
    /// Run.
    Play = "M7 4.2v15.6a.6.6 0 0 0 .92.5l12-7.8a.6.6 0 0 0 0-1L7.92 3.7a.6.6 0 0 0-.92.5z";
    /// Stop.
    Stop = "M7 5h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z";
    /// Add.
    Plus = "M5 12h14M12 5v14";
    /// Close.
    Cross = "M18 6 6 18M6 6l12 12";
    /// Unfold to the side.
    Right = "m9 18 6-6-6-6";
    /// Unfold downwards.
    Down = "m6 9 6 6 6-6";
    /// A table.
    Table = "M5 4h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM3 10h18M10 10v10";
    /// A view.
    View = "M2.06 12.35a1 1 0 0 1 0-.7 10.75 10.75 0 0 1 19.88 0 1 1 0 0 1 0 .7 10.75 10.75 0 0 1-19.88 0M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6";
    /// A database.
    Database = "M12 8c4.97 0 9-1.34 9-3s-4.03-3-9-3-9 1.34-9 3 4.03 3 9 3M3 5v14c0 1.66 4.03 3 9 3s9-1.34 9-3V5M3 12c0 1.66 4.03 3 9 3s9-1.34 9-3";
    /// A schema.
    Schema = "m12.83 2.18a2 2 0 0 0-1.66 0L2.6 6.08a1 1 0 0 0 0 1.83l8.58 3.91a2 2 0 0 0 1.66 0l8.58-3.9a1 1 0 0 0 0-1.83zM2 12a1 1 0 0 0 .58.91l8.6 3.91a2 2 0 0 0 1.65 0l8.58-3.9A1 1 0 0 0 22 12M2 17a1 1 0 0 0 .58.91l8.6 3.91a2 2 0 0 0 1.65 0l8.58-3.9A1 1 0 0 0 22 17";
    /// Part of the primary key.
    Key = "m15.5 7.5 2.3 2.3a1 1 0 0 0 1.4 0l2.1-2.1a1 1 0 0 0 0-1.4L19 4M21 2l-9.6 9.6M7.5 10a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11";
    /// Part of a foreign key.
    Link = "M10 13a5 5 0 0 0 7.54.54l3-3a5 5 0 0 0-7.07-7.07l-1.72 1.71M14 11a5 5 0 0 0-7.54-.54l-3 3a5 5 0 0 0 7.07 7.07l1.71-1.71";
    /// A plain column.
    Column = "M12 11.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2";
    /// Search.
    Search = "M11 3a8 8 0 1 0 0 16 8 8 0 0 0 0-16M21 21l-4.3-4.3";
    /// The light theme.
    Sun = "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M4.93 4.93l1.41 1.41M17.66 17.66l1.41 1.41M2 12h2M20 12h2M6.34 17.66l-1.41 1.41M19.07 4.93l-1.41 1.41";
    /// The dark theme.
    Moon = "M12 3a6 6 0 0 0 9 9 9 9 0 1 1-9-9z";
    /// The system's theme.
    Monitor = "M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2M8 21h8M12 17v4";
    /// Only reading.
    Lock = "M5 11h14a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2M7 11V7a5 5 0 0 1 10 0v4";
    /// Not whole, or stopped.
    Warning = "m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3M12 9v4M12 17h.01";
    /// Failed.
    Error = "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20M12 8v4M12 16h.01";
    /// Ended well.
    Check = "M20 6 9 17l-5-5";
    /// Said beside the result.
    Note = "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20M12 16v-4M12 8h.01";
    /// The explorer.
    Sidebar = "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2M9 3v18";
    /// Fetch again.
    Refresh = "M3 12a9 9 0 0 1 9-9 9.75 9.75 0 0 1 6.74 2.74L21 8M21 3v5h-5M21 12a9 9 0 0 1-9 9 9.75 9.75 0 0 1-6.74-2.74L3 16M8 16H3v5";
    /// Keys.
    Keyboard = "M10 8h.01M12 12h.01M14 8h.01M16 12h.01M18 8h.01M6 8h.01M7 16h10M8 12h.01M4 4h16a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2";
    /// A console.
    Console = "m4 17 6-6-6-6M12 19h8";
    /// Read to the end.
    ToEnd = "M12 17V3M6 11l6 6 6-6M19 21H5";
    /// Messages.
    Messages = "M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2z";
    /// All commands.
    Command = "M15 6v12a3 3 0 1 0 3-3H6a3 3 0 1 0 3 3V6a3 3 0 1 0-3 3h12a3 3 0 1 0-3-3";
    /// More.
    More = "M12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2M19 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2M5 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2";
    /// Sheaf: arrows bound in the middle.
    Sheaf = "M12 21.5V2.8M9.3 5.4 12 2.8l2.7 2.6M8.6 21c1.9-4.4 1.9-9.3-2.9-15.2M5 9.5l.5-3.8 3.7.6M15.4 21c-1.9-4.4-1.9-9.3 2.9-15.2M19 9.5l-.5-3.8-3.7.6M8 14.6h8";
}

/// An icon that says nothing to a screen reader: its button or its neighbour does.
#[component]
pub fn Icon(
    /// Which one.
    glyph: Glyph,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d=glyph.path()></path>
        </svg>
    }
}
