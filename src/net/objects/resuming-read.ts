import { UserError } from "../../lib/failure.ts";
import { type RetryPolicy, requireSuccess, waitAfter } from "./retry-calls.ts";

/** Requests a file from an offset on, which `headers` contain. */
export type OpenFile = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/**
 * Yields the bytes of a remote file. After a lost connection, a stall or a server error it resumes at the current offset, and checks that
 * the file is still the same.
 *
 * @throws UserError if the file is refused or has changed; RetryableError after too many failures without a byte in between.
 */
export async function* resumingRead(
  label: string,
  open: OpenFile,
  { policy, signal }: { readonly policy: RetryPolicy; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array, void> {
  let offset = 0;
  let failures = 0;
  let version: string | undefined;
  for (;;) {
    const stalled = new AbortController();
    const either = AbortSignal.any([signal, stalled.signal]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expectMore = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(new Error("nothing arrived in time")), policy.stallMs);
    };
    try {
      expectMore();
      const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const response = await requireSuccess(label, await open(range, either));
      const found = versionOf(response, offset);
      version ??= found.version;
      if (found.version !== version)
        throw new UserError(`${label} has changed while it was read: run the command again`);
      // A server without support for ranges sends everything again.
      let skipped = found.startsAt;
      for await (const chunk of piecesOf(response, either)) {
        clearTimeout(timer);
        const repeated = Math.min(offset - skipped, chunk.length);
        skipped += repeated;
        if (chunk.length > repeated) {
          const fresh = chunk.subarray(repeated);
          offset += fresh.length;
          skipped = offset;
          failures = 0;
          yield fresh;
        }
        expectMore();
      }
      if (found.endsAt !== undefined && offset < found.endsAt) throw new Error("the connection was cut");
      return;
    } catch (cause) {
      clearTimeout(timer);
      failures += 1;
      await waitAfter(label, stalled.signal.aborted ? stalled.signal.reason : cause, failures, {
        policy,
        signal,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Yields the body. The signal ends it even while the connection is silent. */
async function* piecesOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    void reader.cancel().catch(() => undefined);
  }
}

/** Returns which version of the file a response has, and where it starts and ends. */
function versionOf(
  { status, headers }: Response,
  offset: number,
): { readonly version: string; readonly startsAt: number; readonly endsAt: number | undefined } {
  const tag = headers.get("etag") ?? headers.get("last-modified") ?? "";
  if (status !== 206) {
    const length = headers.get("content-length");
    const total = length === null ? undefined : Number(length);
    return { version: `${tag} ${total}`, startsAt: 0, endsAt: total };
  }
  const [, start, end] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  if (Number(start) !== offset || end === undefined)
    throw new Error("the server sent another range than the one that was asked for");
  return { version: `${tag} ${Number(end)}`, startsAt: offset, endsAt: Number(end) };
}
