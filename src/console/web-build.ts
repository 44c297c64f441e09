/** A file of the page as it is served. */
export interface WebFile {
  /** Of an asset, as in `/console/a/<name>`, its content's hash included; of a document that of its source. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Compressed forms; absent where they were not made, or where they are not smaller. */
  readonly br?: Uint8Array | undefined;
  readonly gzip?: Uint8Array | undefined;
}

/** The page as it is served. */
export interface WebBuild {
  /** The HTML documents, which name the assets that they need. */
  readonly documents: readonly WebFile[];
  readonly assets: readonly WebFile[];
  /** The paths of all pages, as in `/console/people/:who`. */
  readonly pagePaths: readonly string[];
}

/** Path of the assets. A name is never used for another content. */
export const ASSET_PATH = "/console/a/";
