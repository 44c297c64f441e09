import type { SetUpWish } from "../../setup/set-up.ts";
import { readFidList } from "../parts/fields.ts";
import * as msg from "../text/en/tools/setup.ts";
import { type FurtherTexts, furtherOf, NO_FURTHER } from "./further-settings.tsx";

type ScopeKind = Exclude<SetUpWish["scope"]["kind"], "demo" | "import">;

/** The input of the set-up form. */
export interface WishTexts extends FurtherTexts {
  readonly source: "follow" | "demo" | "import";
  readonly nodes: string;
  readonly scope: ScopeKind;
  readonly fids: string;
  readonly channel: string;
  readonly person: string;
  readonly fidFile: string;
  readonly records: string;
}

export const EMPTY: WishTexts = {
  source: "follow",
  nodes: "",
  scope: "all",
  fids: "",
  channel: "",
  person: "",
  fidFile: "",
  records: "",
  ...NO_FURTHER,
};

type WishField = "nodes" | "fids" | "channel" | "person" | "fidFile" | "records";
type WishProblems = Partial<Readonly<Record<WishField | keyof FurtherTexts, string>>>;

const DEFAULT_PORT = 3383;

/** Returns `host`, `host:port` or a URL as the URL of a node; undefined for anything else. */
function nodeUrl(text: string): string | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  if (url.username !== "" || url.search !== "" || url.hash !== "" || url.pathname !== "/") return undefined;
  const hasPort = /:\d+\/?$/.test(text);
  return hasPort || url.protocol === "https:" ? url.origin : `${url.origin}:${DEFAULT_PORT}`;
}

const isPath = (text: string) => /^\/[^/]/.test(text);

/** Returns the wish, or what is wrong with it by field. */
export function wishOf(texts: WishTexts): { readonly wish?: SetUpWish; readonly problems: WishProblems } {
  if (texts.source === "demo") return { wish: { scope: { kind: "demo" }, urls: [] }, problems: {} };
  const further = furtherOf(texts);
  if (texts.source === "import") {
    const path = texts.records.trim();
    const problems = { ...(!isPath(path) && { records: msg.anAbsolutePath }), ...further.problems };
    if (Object.keys(problems).length > 0) return { problems };
    return { wish: { scope: { kind: "import", path }, urls: [], settings: further.settings }, problems };
  }
  const words = texts.nodes.split(/\s+/).filter((word) => word !== "");
  const urls = words.flatMap((word) => nodeUrl(word) ?? []);
  const nodes = words.length === 0 ? msg.required : urls.length < words.length ? msg.aHostAndPort : undefined;
  const fids = readFidList(texts.fids);
  const person = readFidList(texts.person);
  const channel = texts.channel.trim();
  const path = texts.fidFile.trim();
  const problems: WishProblems = {
    ...(nodes !== undefined && { nodes }),
    ...(texts.scope === "fids" &&
      (fids.bad !== undefined || fids.fids.length === 0) && { fids: msg.fidsAreNumbers }),
    ...(texts.scope === "channel" && (channel === "" || /\s/.test(channel)) && { channel: msg.required }),
    ...(texts.scope === "followers" &&
      (person.bad !== undefined || person.fids.length !== 1) && { person: msg.fidsAreNumbers }),
    ...(texts.scope === "file" && !isPath(path) && { fidFile: msg.anAbsolutePath }),
    ...further.problems,
  };
  if (Object.keys(problems).length > 0) return { problems };
  const scopes: Readonly<Record<ScopeKind, SetUpWish["scope"]>> = {
    all: { kind: "all" },
    fids: { kind: "fids", fids: fids.fids },
    channel: { kind: "channel", channel },
    followers: { kind: "followers", fid: person.fids[0] ?? 0 },
    file: { kind: "file", path },
  };
  return { wish: { scope: scopes[texts.scope], urls, settings: further.settings }, problems };
}
