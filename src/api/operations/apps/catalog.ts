import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { choice, cursor, fid, limit, optional, text, textList } from "../../../http/request/params.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import type { Hydration } from "../../../read/hydrate/hydrate.ts";
import { appCategory, appChains, appWords, presentMiniApp } from "../../../read/present/compat/mini-app.ts";
import { presentUser, presentUserDehydrated } from "../../../read/present/compat/user.ts";
import { followedAmong } from "../../../read/queries/users/links.ts";
import { openListRules } from "../../../read/rules/list-rules.ts";
import { runQuery } from "../../../read/run-query.ts";
import type { ApiDeps, ListedApp } from "../../deps.ts";
import { CompatUser, UserDehydrated } from "../../dialects/compat-objects.ts";
import { Next, object } from "../../dialects/fields.ts";
import { decodeCursor } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Mini apps", surface: "compat" });

const TIME_WINDOWS = ["1h", "6h", "12h", "24h", "7d"] as const;
const MAX_APPS = 1_000;
const MAX_QUERY_CHARS = 32;
/** Apps whose sharers are compared with the people followed by the viewer. */
const MAX_COMPARED = 50;
const MAX_RELEVANT = 20;
const MAX_TOP_USERS = 3;
const MAX_OTHER_USERS = 20;

const catalogCursor = cursorCodec("frame/catalog", ["int"]);
const searchCursor = cursorCodec("frame/search", ["int"]);

const open = { additionalProperties: true } as const;

const MiniApp = object(
  {
    version: Type.String(),
    image: Type.String(),
    frames_url: Type.String({ description: "What a client opens" }),
    title: Type.Optional(Type.String()),
    author: Type.Optional(CompatUser),
    manifest: Type.Optional(
      Type.Object(
        { account_association: Type.Object({}, open) },
        { ...open, description: "As the domain has it" },
      ),
    ),
    metadata: Type.Optional(object({ html: Type.Object({}, open) })),
  },
  { $id: "FarcasterMiniApp" },
);

const AppsResponse = object({ frames: Type.Array(MiniApp), next: Next });

const RelevantAppsResponse = object({
  relevant_frames: Type.Array(
    object({
      frame: MiniApp,
      top_relevant_users: Type.Array(CompatUser, { maxItems: MAX_TOP_USERS }),
      remaining_relevant_users: Type.Array(UserDehydrated),
    }),
  ),
});

const EMPTY = "Empty while `previews.mode` is off.";
const networks = () =>
  optional(
    textList({ maxItems: 20, maxChars: 64, description: "Apps that need another network are left out" }),
  );
const timeWindow = () =>
  optional(choice(TIME_WINDOWS, { description: "How long a share counts half" }), "7d");

interface Filter {
  readonly categories?: readonly string[] | undefined;
  readonly networks?: readonly string[] | undefined;
  readonly isMatch?: (app: ListedApp) => boolean;
}

/** Returns a page of the ranked apps that pass a filter. */
function pageOf(
  { catalog }: ApiDeps,
  { window, after, size }: { window: (typeof TIME_WINDOWS)[number]; after: number; size: number },
  { categories, networks: wanted, isMatch = () => true }: Filter,
): { readonly apps: readonly ListedApp[]; readonly last: number | undefined } {
  const found = (catalog?.ranked({ timeWindow: window, after, limit: MAX_APPS }) ?? []).filter((app) => {
    if (categories && !categories.includes(appCategory(app.manifest) ?? "")) return false;
    const chains = appChains(app.manifest);
    if (wanted && chains.length > 0 && !chains.some((chain) => wanted.includes(chain))) return false;
    return isMatch(app);
  });
  const apps = found.slice(0, size);
  return { apps, last: found.length > size ? apps.at(-1)?.rank : undefined };
}

function respondWithApps(
  deps: ApiDeps,
  page: ReturnType<typeof pageOf>,
  codec: typeof catalogCursor,
): object {
  return runQuery(
    deps.reads,
    () => page,
    ({ apps }) => ({ fids: authorsOf(apps) }),
    ({ apps, last }, hydration) => ({
      frames: apps.map((app) => presentApp(app, hydration)),
      next: { cursor: last === undefined ? null : codec.encode([last]) },
    }),
  );
}

const authorsOf = (apps: readonly ListedApp[]) => new Set(apps.flatMap(({ authorFid }) => authorFid ?? []));

const wordsOf = (words: string) => words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function presentApp(app: ListedApp, hydration: Hydration) {
  const author = app.authorFid === undefined ? undefined : presentUser(app.authorFid, hydration);
  return presentMiniApp(app, author);
}

export const catalogOperations = [
  op({
    id: "getAppCatalog",
    path: "/frame/catalog",
    price: perRows(5),
    summary: "Mini apps that people share",
    description:
      "An app is listed when three people with a score of 0.3, or ten people where there are no scores, have shared a page of its domain within " +
      `30 days, unless its manifest says \`noindex\`. \`author\` is who signed the manifest for the domain. ${EMPTY}`,
    query: {
      limit: limit(100),
      cursor: cursor(),
      time_window: timeWindow(),
      categories: optional(textList({ maxItems: 20, maxChars: 32, description: "Categories of manifests" })),
      networks: networks(),
    },
    response: AppsResponse,
    run: (deps, { query }) => {
      const { limit: size, time_window: window, categories, networks: wanted } = query;
      const [after = 0] = decodeCursor(catalogCursor, query.cursor) ?? [];
      return respondWithApps(
        deps,
        pageOf(deps, { window, after, size }, { categories, networks: wanted }),
        catalogCursor,
      );
    },
  }),
  op({
    id: "searchApps",
    path: "/frame/search",
    price: perRows(5),
    summary: "Mini apps by name, domain and tags",
    description: `Only apps whose manifest is signed for their domain. ${EMPTY}`,
    query: {
      q: text({
        maxChars: MAX_QUERY_CHARS,
        description: "Every word begins a word of the name, the domain or a tag",
      }),
      limit: limit(20),
      cursor: cursor(),
      networks: networks(),
    },
    response: AppsResponse,
    run: (deps, { query }) => {
      const words = wordsOf(query.q);
      const [after = 0] = decodeCursor(searchCursor, query.cursor) ?? [];
      const isMatch = ({ authorFid, domain, manifest, frame }: ListedApp) => {
        if (authorFid === undefined || words.length === 0) return false;
        const { name, tags } = appWords(manifest);
        const own = wordsOf([name, frame.title ?? "", domain, ...tags].join(" "));
        return words.every((word) => own.some((one) => one.startsWith(word)));
      };
      const page = pageOf(
        deps,
        { window: "7d", after, size: query.limit },
        { networks: query.networks, isMatch },
      );
      return respondWithApps(deps, page, searchCursor);
    },
  }),
  op({
    id: "getRelevantApps",
    path: "/frame/relevant",
    price: perRows(15),
    summary: "Mini apps that people whom a user follows have shared",
    description: EMPTY,
    query: { viewer_fid: fid(), time_window: timeWindow(), networks: networks() },
    response: RelevantAppsResponse,
    run: (deps, { query }) => {
      const { catalog, reads } = deps;
      const { time_window: window, viewer_fid: viewerFid } = query;
      const { apps } = pageOf(deps, { window, after: 0, size: MAX_COMPARED }, { networks: query.networks });
      return runQuery(
        reads,
        (db) => {
          const rules = openListRules(reads, { viewerFid });
          return apps
            .flatMap((app) => {
              const followed = followedAmong(db, viewerFid, catalog?.sharersOf(app.domain) ?? []);
              const rows = followed.map((one) => ({ fid: one }));
              const shown = (rules?.accounts(rows) ?? rows).map((row) => row.fid);
              return shown.length > 0
                ? [{ app, followed: shown.slice(0, MAX_TOP_USERS + MAX_OTHER_USERS) }]
                : [];
            })
            .sort((a, b) => b.followed.length - a.followed.length)
            .slice(0, MAX_RELEVANT);
        },
        (found) => ({
          fids: new Set([
            ...authorsOf(found.map(({ app }) => app)),
            ...found.flatMap(({ followed }) => followed),
          ]),
        }),
        (found, hydration) => ({
          relevant_frames: found.map(({ app, followed }) => ({
            frame: presentApp(app, hydration),
            top_relevant_users: followed
              .slice(0, MAX_TOP_USERS)
              .flatMap((one) => presentUser(one, hydration) ?? []),
            remaining_relevant_users: followed
              .slice(MAX_TOP_USERS)
              .flatMap((one) => presentUserDehydrated(one, hydration) ?? []),
          })),
        }),
      );
    },
  }),
];
