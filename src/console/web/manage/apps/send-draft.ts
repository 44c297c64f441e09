import { fidListProblem, readFidList } from "../fid-list.ts";

/** A send as it stands in the form. */
export interface SendDraft {
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
  readonly audience: "everyone" | "some";
  /** Lists of fids as typed. */
  readonly targetFids: string;
  readonly excludeFids: string;
  readonly followingFid: string;
  /** Of a notification that is sent again: who has it does not get it twice. */
  readonly uuid: string | undefined;
}

export const MAX_TITLE_CHARS = 32;
export const MAX_BODY_CHARS = 128;
const MAX_URL_CHARS = 256;

/** Unicode code points, as the API counts them. */
export const charsOf = (text: string) => [...text].length;

export const emptyDraft = (appUrl: string): SendDraft => ({
  title: "",
  body: "",
  targetUrl: appUrl,
  audience: "everyone",
  targetFids: "",
  excludeFids: "",
  followingFid: "",
  uuid: undefined,
});

/** The name under which the tab keeps the draft of an app. */
export const draftName = (appId: string) => `send ${appId}`;

export type SendProblems = { readonly [field in keyof SendDraft]?: string };

function textProblem(text: string, max: number): string | undefined {
  const chars = charsOf(text);
  if (chars === 0) return "Say something.";
  if (chars > max) return `${chars - max} too many: at most ${max} characters.`;
  return text.isWellFormed() && !text.includes("\0")
    ? undefined
    : "This has characters that no client can show.";
}

function urlProblem(text: string, appUrl: string): string | undefined {
  if (charsOf(text) > MAX_URL_CHARS) return `At most ${MAX_URL_CHARS} characters.`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:") return "An https URL.";
  const { host } = new URL(appUrl);
  return url.host === host ? undefined : `Clients open it on the host of the app alone: ${host}.`;
}

/** What the node would refuse, as sentences by field. The node decides; this only says it earlier. */
export function problemsOf(draft: SendDraft, appUrl: string): SendProblems {
  const targets = readFidList(draft.targetFids);
  const following = readFidList(draft.followingFid);
  const problems = {
    title: textProblem(draft.title, MAX_TITLE_CHARS),
    body: textProblem(draft.body, MAX_BODY_CHARS),
    targetUrl: urlProblem(draft.targetUrl, appUrl),
    targetFids:
      draft.audience === "everyone"
        ? undefined
        : (fidListProblem(targets) ?? (targets.fids.length === 0 ? "Name at least one fid." : undefined)),
    excludeFids: fidListProblem(readFidList(draft.excludeFids)),
    followingFid: fidListProblem(following) ?? (following.fids.length > 1 ? "One fid." : undefined),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
}

const AUDIENCE_FIELDS = ["targetFids", "excludeFids", "followingFid"] as const;

/** The filters of the body; undefined while one of them cannot be read. */
export function audienceOf(draft: SendDraft, problems: SendProblems) {
  if (AUDIENCE_FIELDS.some((field) => problems[field] !== undefined)) return undefined;
  const targets = draft.audience === "some" ? readFidList(draft.targetFids).fids : [];
  const excluded = readFidList(draft.excludeFids).fids;
  const [following] = readFidList(draft.followingFid).fids;
  return {
    ...(targets.length > 0 && { target_fids: targets }),
    ...(excluded.length > 0 && { exclude_fids: excluded }),
    ...(following !== undefined && { following_fid: following }),
  };
}
