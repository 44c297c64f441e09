/** The languages of the console, by their own names. English is the source of all texts, and is used if another language lacks a file. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

export const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);

/** The node's settings that the page needs: the content of `<meta name="console-settings">`, as JSON. */
export interface PageSettings {
  /** `service.name`, as in `/v2/<name>`. */
  readonly service: string;
  readonly version: string;
  /** The prefix of the hosted API's dialect, as in `/v2/<prefix>`; empty without one. */
  readonly compat: string;
  /** The number of the network, for claims of verifications. */
  readonly network: number;
  /** Whether the index is a demo network. */
  readonly demo: boolean;
  /** The prefix of the service's own headers, as in `X-Svc-Fid`. */
  readonly headerPrefix: string;
  /** `name` of the EIP-712 domain; signed operations have the primary type `<domain>SignedOp`. */
  readonly domain: string;
  /** The URL under which users reach the node; empty if it is the page's own origin. */
  readonly publicUrl: string;
  /** Whether the page may offer to load images from other hosts. */
  readonly images: "ask" | "off";
  readonly manage: boolean;
  readonly operator: boolean;
  /** Whether the node's incidents are public. */
  readonly incidents: boolean;
  /** Whether the node has a history. */
  readonly history: boolean;
  /** Whether owners may have sessions. */
  readonly sessions: boolean;
  /** Whether reads need no API key. */
  readonly anonymous: boolean;
  /** Whether receivers may have http URLs. */
  readonly allowHttp: boolean;
  /** Whether the node has a stream of events. */
  readonly stream: boolean;
  /** Whether the node stores users' keys; `no_key`: it has no master key to seal them with. */
  readonly signers: "on" | "off" | "no_key";
  /** Whether the node offers Quick Auth, and sign-in on its pages. */
  readonly quickAuth: boolean;
  readonly webSignIn: boolean;
  /** Whether the node can ask the contracts of wallets. */
  readonly contractWallets: boolean;
  /** The maximum number of attempts of a delivery, and the time from the first to the last, without delays that a receiver requests. */
  readonly webhookAttempts: number;
  readonly webhookRetryMs: number;
}

const isWithin = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);

/** Reports whether a node with these settings serves a page of the table; other pages are 404. Used by the server and by the page. */
export function isPageServed(
  path: string,
  settings: Pick<PageSettings, "manage" | "operator" | "stream" | "quickAuth" | "webSignIn">,
): boolean {
  const { manage, operator, stream, quickAuth, webSignIn } = settings;
  if (isWithin(path, "/console/manage")) return manage;
  if (isWithin(path, "/console/operator") || isWithin(path, "/console/setup")) return operator;
  if (isWithin(path, "/console/sign-in")) return quickAuth || webSignIn;
  return stream || !isWithin(path, "/console/stream");
}
