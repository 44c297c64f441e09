/** What the head of a page says of it. */
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

/** The mini app that a page is, or its frame of the first kind. */
export interface PreviewFrame {
  readonly version: string;
  readonly image: string;
  readonly frames_url: string;
  readonly title?: string;
  readonly [member: string]: unknown;
}

/** What is known of an embedded URL, under the names of the hosted API. An object is replaced when what is known changes. */
export interface PreviewMetadata {
  readonly _status: "RESOLVED" | "PENDING" | "FAILED" | "NOT_FETCHED";
  readonly content_type?: string | null;
  readonly content_length?: number | null;
  readonly image?: { readonly width_px: number; readonly height_px: number };
  readonly html?: PreviewHtml;
  readonly frame?: PreviewFrame;
}

/** What is known of a mini app from its domain. */
export interface PreviewApp {
  /** Who signed its manifest for the domain. */
  readonly authorFid: number | undefined;
  /** As the domain has it. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
}

/** Where the previews of embedded URLs are looked up. It never waits for another host. */
export interface PreviewSource {
  /** By the URL as it is in the cast; URLs that are never fetched are left out. */
  of(urls: Iterable<string>): ReadonlyMap<string, PreviewMetadata>;
  /** The checked mini app that a URL with a frame is; undefined for another. */
  readonly appOf?: (url: string) => PreviewApp | undefined;
}
