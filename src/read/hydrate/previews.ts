/** Metadata from the head of a page. */
export interface PreviewHtml {
  readonly ogTitle?: string;
  readonly ogDescription?: string;
  readonly ogSiteName?: string;
  readonly ogImage?: PreviewPicture[];
  readonly ogVideo?: PreviewPicture[];
  readonly favicon?: string;
  readonly [member: string]: unknown;
}

/** An image or video of a page. Pixels are numbers as text. */
export interface PreviewPicture {
  readonly url: string;
  readonly width?: string;
  readonly height?: string;
  readonly type?: string;
  readonly alt?: string;
}

/** The mini app of a page, or its frame in the first version of the format. */
export interface PreviewFrame {
  readonly version: string;
  readonly image: string;
  readonly frames_url: string;
  readonly title?: string;
  readonly [member: string]: unknown;
}

/** Metadata of an embedded URL, under the names of the hosted API. The object is replaced when the metadata changes. */
export interface PreviewMetadata {
  readonly _status: "RESOLVED" | "PENDING" | "FAILED" | "NOT_FETCHED";
  readonly content_type?: string | null;
  readonly content_length?: number | null;
  readonly image?: { readonly width_px: number; readonly height_px: number };
  readonly html?: PreviewHtml;
  readonly frame?: PreviewFrame;
}

/** Metadata of a mini app from its domain. */
export interface PreviewApp {
  /** The fid that signed its manifest for the domain. */
  readonly authorFid: number | undefined;
  /** As published by the domain. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
}

/** Looks up the previews of embedded URLs. It never waits for another host. */
export interface PreviewSource {
  /** Returns previews by the URL as spelled in the cast. URLs that are never fetched are left out. */
  of(urls: Iterable<string>): ReadonlyMap<string, PreviewMetadata>;
  /** Returns the checked mini app of a URL with a frame; undefined if there is none. */
  readonly appOf?: (url: string) => PreviewApp | undefined;
}
