import { expect, test } from "bun:test";
import {
  serveVerifier,
  type VerifierReply,
  type VerifierScope,
} from "../../../../src/ingest/bulk/verify/verifier-thread.ts";
import { packBytes } from "../../../../src/lib/bytes.ts";
import { Store } from "../../../../src/protocol/message/merge-rules.ts";
import { DEFAULT_NOW_SECS } from "../../../support/messages.ts";
import { cast } from "../../../support/records.ts";

test("a thread replies to a request once, with the results of its jobs in order", () => {
  const replies: VerifierReply[] = [];
  const scope: VerifierScope = { onmessage: null, postMessage: (reply) => void replies.push(reply) };
  serveVerifier(scope);
  const messages = () => packBytes([cast(1, "gm").bytes]);
  const page = { fid: 1, store: Store.Casts, messages: messages(), collectsMentions: false };
  const records = { kinds: ["message"], records: messages(), collectsCandidates: true } as const;
  const context = { network: 1, nowUnixSecs: DEFAULT_NOW_SECS };
  const jobs = [{ type: "page", page } as const, { type: "records", ...records } as const];
  scope.onmessage?.(new MessageEvent("message", { data: { context, jobs } }));
  expect(replies).toMatchObject([
    {
      results: [
        { type: "page", page: { messages: { count: 1 } } },
        { type: "records", validated: { candidates: [{ count: 1 }] } },
      ],
    },
  ]);
});
