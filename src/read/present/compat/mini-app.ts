import type { PreviewFrame, PreviewHtml } from "../../hydrate/previews.ts";
import type { User } from "./user.ts";

/** A mini app as stored in the catalog. */
export interface ShownApp {
  readonly frame: PreviewFrame;
  readonly html: PreviewHtml | undefined;
  /** As published by the domain. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
}

const CHAINS: Readonly<Record<string, string>> = {
  "eip155:1": "ethereum",
  "eip155:10": "optimism",
  "eip155:8453": "base",
  "eip155:42161": "arbitrum",
  "eip155:137": "polygon",
  "eip155:7777777": "zora",
  "eip155:130": "unichain",
  "eip155:42220": "celo",
  "eip155:100": "gnosis",
  "eip155:999": "hyperevm",
  "eip155:10143": "monad",
  "eip155:666666666": "degen",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana",
};

/** Presents a mini app in the form of the hosted API. */
export function presentMiniApp({ frame, html, manifest }: ShownApp, author: User | undefined) {
  const { version, image, frames_url, title } = frame;
  return {
    version,
    image,
    frames_url,
    ...(title !== undefined && { title }),
    ...(author && { author }),
    ...(manifest && { manifest: presentManifest(manifest) }),
    ...(html && { metadata: { html } }),
  };
}

export function appWords(manifest: ShownApp["manifest"]): {
  readonly name: string;
  readonly tags: readonly string[];
} {
  const { name, tags } = appOf(manifest);
  return {
    name: typeof name === "string" ? name : "",
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
  };
}

export function appCategory(manifest: ShownApp["manifest"]): string | undefined {
  const { primaryCategory } = appOf(manifest);
  return typeof primaryCategory === "string" ? primaryCategory : undefined;
}

/** Returns the networks that an app needs, by the names of the hosted API. */
export function appChains(manifest: ShownApp["manifest"]): string[] {
  const { requiredChains } = appOf(manifest);
  if (!Array.isArray(requiredChains)) return [];
  return requiredChains.flatMap((chain) => (typeof chain === "string" ? [CHAINS[chain] ?? chain] : []));
}

type Members = Readonly<Record<string, unknown>>;

function appOf(manifest: ShownApp["manifest"]): Members {
  return Object(manifest?.miniapp ?? manifest?.frame) as Members;
}

/** Presents a manifest under the names of the hosted API, which have underscores. */
export function presentManifest(manifest: Members) {
  const { accountAssociation, miniapp, frame } = manifest;
  return {
    account_association: Object(accountAssociation) as object,
    ...(miniapp !== undefined && { miniapp: underscored(miniapp) }),
    ...(frame !== undefined && { frame: underscored(frame) }),
  };
}

function underscored(value: unknown): object {
  return Object.fromEntries(
    Object.entries(Object(value) as Members).map(([name, member]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      member,
    ]),
  );
}
