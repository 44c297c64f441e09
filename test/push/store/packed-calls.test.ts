import { expect, test } from "bun:test";
import { packResults, unpackResults } from "../../../src/push/store/campaigns/packed-calls.ts";

test("each token keeps its outcome, also if tokens share one", () => {
  const success = { kind: "success", reason: "", isRetryable: false } as const;
  const limited = { kind: "failure", reason: "rate_limited", isRetryable: true } as const;
  const outcomes = [success, limited, success, limited];
  const tokens = outcomes.map((_, at) => ({ fid: 10 + at, clientFid: 9 }));
  const packed = packResults("h", { tokens, outcomes }, 1_000);
  if (packed.kind !== "record") throw new Error("it is not a record");
  expect(unpackResults(packed)).toEqual(
    tokens.map((token, at) => ({ ...token, ...(at % 2 === 0 ? success : limited) })),
  );
});
