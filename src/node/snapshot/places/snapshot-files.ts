/** The file of a snapshot that says what it holds. It is written last, so a place with a manifest has a complete snapshot. */
export const MANIFEST_FILE = "manifest.json";

/** The databases that a snapshot can hold. */
export const SNAPSHOT_PARTS = ["index", "state"] as const;
export type SnapshotPart = (typeof SNAPSHOT_PARTS)[number];

/** The compressed file of a database. The names are fixed, so a manifest cannot name other files. */
export function compressedFile(part: SnapshotPart): string {
  return `${part}.db.zst`;
}
