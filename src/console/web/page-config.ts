/** What the node tells the page in its document: settings that shape the page, nothing that changes while it is open. */
export interface PageConfig {
  /** `service.name`: the native API is under `/v2/<service>`. */
  readonly service: string;
  readonly version: string;
  /** Whether the index is a demo network. */
  readonly demo: boolean;
  /** `console.images`: `ask` offers images from other hosts, `off` never does. */
  readonly images: "ask" | "off";
  /** Whether this document may load images from other hosts (`?images=1`). */
  readonly imagesLoaded: boolean;
  readonly manage: boolean;
  readonly operator: boolean;
  /** `auth.sessions`. */
  readonly sessions: boolean;
  /** The origin that snippets and commands name (`service.public_url`), where it is set. */
  readonly publicUrl: string | null;
}

function readPageConfig(): PageConfig {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="console-settings"]');
  if (!meta) throw new Error('the document has no <meta name="console-settings">');
  return JSON.parse(meta.content) as PageConfig;
}

export const pageConfig = readPageConfig();

/** The prefix of the native API. */
export const apiPrefix = `/v2/${pageConfig.service}`;

/** The origin of this node as the page shows it in snippets. */
export const nodeOrigin = pageConfig.publicUrl ?? location.origin;
