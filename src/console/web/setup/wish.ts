import type { SetUpWish } from "../../setup/set-up.ts";
import { readFidList } from "../parts/fields.ts";
import * as msg from "../text/en/tools/setup.ts";

export type ScopeKind = Exclude<SetUpWish["scope"]["kind"], "demo">;

/** What is typed into the form of the set-up. */
export interface WishTexts {
  readonly source: "follow" | "demo" | "import";
  readonly nodes: string;
  readonly scope: ScopeKind;
  readonly fids: string;
  readonly channel: string;
  readonly person: string;
}

export const EMPTY: WishTexts = {
  source: "follow",
  nodes: "",
  scope: "all",
  fids: "",
  channel: "",
  person: "",
};

export type WishProblems = Partial<Readonly<Record<"nodes" | "fids" | "channel" | "person", string>>>;

const DEFAULT_PORT = 3383;

/** `host`, `host:port` or a URL as the URL of a node; undefined for anything else. */
export function nodeUrl(text: string): string | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  if (url.username !== "" || url.search !== "" || url.hash !== "" || url.pathname !== "/") return undefined;
  const hasPort = /:\d+\/?$/.test(text);
  return hasPort || url.protocol === "https:" ? url.origin : `${url.origin}:${DEFAULT_PORT}`;
}

/** What is wanted, or what is wrong with it by field. */
export function wishOf(texts: WishTexts): { readonly wish?: SetUpWish; readonly problems: WishProblems } {
  if (texts.source === "demo") return { wish: { scope: { kind: "demo" }, urls: [] }, problems: {} };
  const words = texts.nodes.split(/\s+/).filter((word) => word !== "");
  const urls = words.flatMap((word) => nodeUrl(word) ?? []);
  const nodes = words.length === 0 ? msg.required : urls.length < words.length ? msg.aHostAndPort : undefined;
  const fids = readFidList(texts.fids);
  const person = readFidList(texts.person);
  const channel = texts.channel.trim();
  const problems: WishProblems = {
    ...(nodes !== undefined && { nodes }),
    ...(texts.scope === "fids" &&
      (fids.bad !== undefined || fids.fids.length === 0) && { fids: msg.fidsAreNumbers }),
    ...(texts.scope === "channel" && (channel === "" || /\s/.test(channel)) && { channel: msg.required }),
    ...(texts.scope === "followers" &&
      (person.bad !== undefined || person.fids.length !== 1) && { person: msg.fidsAreNumbers }),
  };
  if (Object.keys(problems).length > 0) return { problems };
  const scopes: Readonly<Record<ScopeKind, SetUpWish["scope"]>> = {
    all: { kind: "all" },
    fids: { kind: "fids", fids: fids.fids },
    channel: { kind: "channel", channel },
    followers: { kind: "followers", fid: person.fids[0] ?? 0 },
  };
  return { wish: { scope: scopes[texts.scope], urls }, problems };
}
