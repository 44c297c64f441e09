import type { OperationExample } from "../../../src/http/openapi/examples.ts";

const METHOD = "svc-trust-1";
const RUN = { id: 12, at: 1_793_534_400 };

/** The demo network computes no scores, so these are written by hand. */
export const scoreExamples: Readonly<Record<string, OperationExample>> = {
  getUserScore: {
    query: { fids: "3,60" },
    responses: {
      200: {
        scores: [
          {
            fid: 3,
            score: 0.93,
            state: "scored",
            is_seed: true,
            method: METHOD,
            run: RUN,
            rank: 412,
            lowered_by: [],
            note: null,
          },
          {
            fid: 60,
            score: 0.08,
            state: "scored",
            is_seed: false,
            method: METHOD,
            run: RUN,
            rank: 83_267,
            lowered_by: ["single_source"],
            note: null,
          },
        ],
      },
    },
  },
};
