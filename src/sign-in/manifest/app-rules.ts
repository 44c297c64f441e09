/** Rules for `miniapp` in a manifest, from `domainMiniAppConfigSchema` of `@farcaster/miniapp-core` 0.6.0. */

/** Returns why a value is invalid, as text that follows its name; undefined if it is valid. */
type Rule = (value: unknown) => string | undefined;

interface Field {
  readonly rule: Rule;
  readonly isRequired?: boolean;
}

const MAX_URL_CHARS = 1024;
const SPECIAL = /[@#$%^&*+=/\\|~«»]/;
const REPEATED = /(!{2,}|\?{2,}|-{2,})/;
const EMOJI = /[\u{1F300}-\u{1F9FF}]|[\u{2702}-\u{27B0}]|[\u{2600}-\u{26FF}]|[\u{2B00}-\u{2BFF}]/u;
const COLOUR = /^#([0-9A-F]{3}|[0-9A-F]{6})$/i;
const DOMAIN = /^(?!.*\.\.)([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$/;
const IPV4 = /^(\d{1,3}\.){3}\d{1,3}$/;

const CATEGORIES = [
  ...["games", "social", "finance", "utility", "productivity", "health-fitness", "news-media", "music"],
  ...["shopping", "education", "developer-tools", "entertainment", "art-creativity"],
];
const CHAINS = [
  ...["eip155:1", "eip155:8453", "eip155:42161", "eip155:421614", "eip155:84532", "eip155:666666666"],
  ...["eip155:100", "eip155:10", "eip155:11155420", "eip155:137", "eip155:11155111", "eip155:7777777"],
  ...["eip155:130", "eip155:10143", "eip155:42220", "eip155:999"],
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
];
const CAPABILITIES = [
  ...["wallet.getEthereumProvider", "wallet.getSolanaProvider", "actions.ready", "actions.openUrl"],
  ...["actions.close", "actions.setPrimaryButton", "actions.addMiniApp", "actions.signIn"],
  ...["actions.viewCast", "actions.viewProfile", "actions.composeCast", "actions.viewToken"],
  ...["actions.sendToken", "actions.swapToken", "actions.openMiniApp"],
  ...["actions.requestCameraAndMicrophoneAccess", "experimental.signManifest"],
  ...["haptics.impactOccurred", "haptics.notificationOccurred", "haptics.selectionChanged", "back"],
];

const text =
  (max: number): Rule =>
  (value) => {
    if (typeof value !== "string") return "must be text";
    return value.length > max ? `must have at most ${max} characters` : undefined;
  };

const plainText =
  (max: number): Rule =>
  (value) => {
    const wrong = text(max)(value);
    if (wrong !== undefined || typeof value !== "string") return wrong;
    if (EMOJI.test(value)) return "must have no emojis and symbols";
    if (SPECIAL.test(value)) return "must have none of @ # $ % ^ & * + = / \\ | ~ « »";
    return REPEATED.test(value) ? "must not repeat punctuation (!!, ??, --)" : undefined;
  };

const oneOf =
  (choices: readonly string[]): Rule =>
  (value) =>
    typeof value === "string" && choices.includes(value) ? undefined : `must be one of ${choices.join(", ")}`;

const listOf =
  (rule: Rule, max?: number): Rule =>
  (value) => {
    if (!Array.isArray(value)) return "must be a list";
    if (max !== undefined && value.length > max) return `must have at most ${max} entries`;
    const wrong = value.map(rule).find((fault) => fault !== undefined);
    return wrong === undefined ? undefined : `has an entry that ${wrong}`;
  };

const url: Rule = (value) => {
  if (typeof value !== "string") return "must be a URL";
  if (value.length > MAX_URL_CHARS) return `must have at most ${MAX_URL_CHARS} characters`;
  const hostname = URL.parse(value)?.hostname;
  if (hostname === undefined) return "must be a URL";
  if (!value.startsWith("https://")) return "must begin with https://";
  if (value.includes(" ")) return "must have no spaces";
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return isLocal || IPV4.test(hostname) || hostname.startsWith("[")
    ? "must name a host, neither an address nor localhost"
    : undefined;
};

const colour: Rule = (value) =>
  typeof value === "string" && COLOUR.test(value) ? undefined : "must be a colour such as #RRGGBB";

const tag: Rule = (value) =>
  plainText(20)(value) ?? (/\s/.test(String(value)) ? "must have no spaces" : undefined);

const domain: Rule = (value) =>
  typeof value === "string" && value.length <= MAX_URL_CHARS && DOMAIN.test(value)
    ? undefined
    : "must be a domain such as app.example";

export const APP_FIELDS: Readonly<Record<string, Field>> = {
  version: { rule: oneOf(["0.0.0", "0.0.1", "1", "next"]), isRequired: true },
  name: { rule: text(32), isRequired: true },
  iconUrl: { rule: url, isRequired: true },
  homeUrl: { rule: url, isRequired: true },
  imageUrl: { rule: url },
  buttonTitle: { rule: text(32) },
  splashImageUrl: { rule: url },
  splashBackgroundColor: { rule: colour },
  webhookUrl: { rule: url },
  subtitle: { rule: plainText(30) },
  description: { rule: plainText(170) },
  screenshotUrls: { rule: listOf(url, 3) },
  primaryCategory: { rule: oneOf(CATEGORIES) },
  tags: { rule: listOf(tag, 5) },
  heroImageUrl: { rule: url },
  tagline: { rule: plainText(30) },
  ogTitle: { rule: plainText(30) },
  ogDescription: { rule: plainText(100) },
  ogImageUrl: { rule: url },
  noindex: { rule: (value) => (typeof value === "boolean" ? undefined : "must be true or false") },
  requiredChains: { rule: listOf(oneOf(CHAINS)) },
  requiredCapabilities: { rule: listOf(oneOf(CAPABILITIES)) },
  castShareUrl: { rule: url },
  canonicalDomain: { rule: domain },
};

/** Fields that contain image URLs. */
export const IMAGE_FIELDS = [
  ...["iconUrl", "splashImageUrl", "imageUrl", "heroImageUrl", "ogImageUrl", "screenshotUrls"],
] as const;
