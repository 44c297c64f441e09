/** The file that describes the contents of a snapshot. It is written last, so a place with a manifest has a complete snapshot. */
export const MANIFEST_FILE = "manifest.json";

/** The databases that a snapshot can contain. */
export const SNAPSHOT_PARTS = ["index", "state"] as const;
export type SnapshotPart = (typeof SNAPSHOT_PARTS)[number];

/** Returns the name of a database's compressed file. The names are fixed, so a manifest cannot name other files. */
export function compressedFile(part: SnapshotPart): string {
  return `${part}.db.zst`;
}
