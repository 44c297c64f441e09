/** The kind of the bare writes that writes of the node are compared with: a page of a file, synced. */
export const BARE_SYNC = "page written and synced";
