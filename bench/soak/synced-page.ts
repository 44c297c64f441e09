/** The kind of bare write with which writes of the node are compared: a page of a file, synced. */
export const BARE_SYNC = "page written and synced";
