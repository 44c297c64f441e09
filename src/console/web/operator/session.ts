import { signal } from "@preact/signals";
import type { Call } from "../data/call.ts";
import { RequestFailure, type RequestOptions, request } from "../data/request.ts";
import { forgetSession, type OwnerSession, readSession, sessionOf, storeSession } from "../owner/owner.ts";
import { createSessionKey, signedHeaders } from "../owner/session-request.ts";
import { signedSnippets } from "../owner/signed-snippets.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/manage/sessions.ts";

/** The operator has no fid. */
const FID = 0;

/** Whether the browser can sign here: on https and on the loopback address. */
const canSign = window.isSecureContext && "subtle" in crypto;

type Session = Pick<OwnerSession, "id" | "privateKey">;

/**
 * What this browser may do: `reading` on a demo network, where everyone may read; `open` with a session. `unable`: the browser cannot
 * sign, because the page was loaded over plain http from another machine.
 */
export type Access = "asking" | "locked" | "unable" | "reading" | "open";

interface Opened {
  readonly session: { readonly session_id: string; readonly expires_at: number };
}

const OP_PATH = "/console/op";
const UNAUTHORIZED = 401;
const CODE = /^#code=([1-9A-HJ-NP-Za-km-z]{1,64})$/;

export const access = signal<Access>("asking");
/** Why the last code did not work, or why the session ended. */
export const lockedBecause = signal<RequestFailure | undefined>(undefined);
/** What ended the session: a restart requested here, or something else; undefined if none was open. */
export const lockedAfter = signal<"restart" | "session" | undefined>(undefined);
let isRestartAsked = false;
let session: Session | undefined;

/** Opens the page with the code in its address, or else with this browser's session. */
export async function enter(): Promise<void> {
  const code = takeCode();
  if (!canSign) {
    access.value = lockedAs("unable");
    return;
  }
  if (code !== undefined) await open(code);
  const stored = await readSession(FID);
  if (stored && stored.expiresAt * 1000 > Date.now()) session ??= sessionOf(stored);
  access.value = session ? "open" : lockedAs("locked");
}

/** A demo network shows the page to everyone. */
const lockedAs = (state: "locked" | "unable"): Access => (pageConfig.demo ? "reading" : state);

/** Removes the code from the address and the history, and returns it. */
function takeCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

async function open(code: string): Promise<void> {
  lockedAfter.value = undefined;
  try {
    const { privateKey, publicKey } = await createSessionKey();
    const opened = await request<Opened>({
      method: "POST",
      path: `${OP_PATH}/session`,
      body: { code, public_key: publicKey },
    });
    const { session_id: sessionId, expires_at: expiresAt } = opened.session;
    session = { id: sessionId, privateKey };
    lockedBecause.value = undefined;
    isRestartAsked = false;
    const none = { address: "", walletId: "", walletName: "", isDemo: false } as const;
    await storeSession({ fid: FID, ...none, sessionId, access: "operate", expiresAt, privateKey });
  } catch (cause) {
    lockedBecause.value =
      cause instanceof RequestFailure
        ? cause
        : new RequestFailure({ status: 0, message: msg.thisBrowserCannotCreateAKey });
  }
}

/** Makes a request of the operator: signed, or unsigned on a demo network that is only read. */
export async function operatorRequest<T>(call: Call<T>, options: RequestOptions = {}): Promise<T> {
  if (!session) return request<T>(call, options);
  const used = session;
  const body = call.body === undefined ? "" : JSON.stringify(call.body);
  const headers = await signedHeaders(FID, used, { ...call, op: call.op ?? "" }, body);
  try {
    return await request<T>(call, { ...options, headers, ...(body === "" ? {} : { rawBody: body }) });
  } catch (cause) {
    if (cause instanceof RequestFailure && cause.status === UNAUTHORIZED && session === used) {
      await drop();
      lockedAfter.value = isRestartAsked ? "restart" : "session";
      lockedBecause.value = cause;
    }
    throw cause;
  }
}

/** Restarts the node, which ends the session. */
export async function restartNode(): Promise<void> {
  await operatorRequest(operatorChange("restart"));
  isRestartAsked = true;
}

/** Ends the session on the node and forgets its key. */
export async function lock(): Promise<void> {
  await operatorRequest({ method: "DELETE", path: `${OP_PATH}/session`, op: "console.end" }).catch(
    () => undefined,
  );
  await drop();
}

async function drop(): Promise<void> {
  const ended = session;
  session = undefined;
  if (ended) await forgetSession(FID, ended.id);
  access.value = lockedAs("locked");
}

/** A read of the operator's part. */
export const operatorRead = <T>(path: string): Call<T> & { readonly op: string } => ({
  method: "GET",
  path: `${OP_PATH}${path}`,
  op: "console.read",
  snippets: signedSnippets,
});

export const operatorChange = <T>(
  what: "backup" | "pause" | "resume" | "incident" | "notice" | "setup" | "setting" | "restart",
  body: object = {},
): Call<T> => ({
  method: "POST",
  path: `${OP_PATH}/${what}`,
  op: `console.${what}`,
  snippets: signedSnippets,
  body,
});
