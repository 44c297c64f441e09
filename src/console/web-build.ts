/** A file of the page. */
export interface WebFile {
  /** Of an asset, as in `/console/a/<name>`, its content's hash included; of a document that of its source. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A file in the forms in which it is sent. */
export interface CodedFile {
  readonly name: string;
  readonly contentType: string;
  /** Absent where compression makes it smaller: few clients ask for it, and `gzip` has it. */
  readonly body: Uint8Array | undefined;
  readonly gzip: Uint8Array | undefined;
  readonly br: Uint8Array | undefined;
}

/** The page as it is served. */
export interface WebBuild {
  /** The HTML documents, which name the assets that they need. */
  readonly documents: readonly WebFile[];
  readonly assets: readonly CodedFile[];
  readonly pages: readonly PageScripts[];
}

/** A page of the console. */
export interface PageScripts {
  /** As in `/console/people/:who`. */
  readonly path: string;
  /** The names of the scripts that it needs besides that of its document. */
  readonly scripts: readonly string[];
}

/** Path of the assets. But for that of the licences, a name is never used for another content. */
export const ASSET_PATH = "/console/a/";

export const LICENSES = "licenses.txt";
