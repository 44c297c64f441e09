import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { perIds } from "../../../http/limits/prices.ts";
import { fid, fidList, optional } from "../../../http/request/params.ts";
import { presentAccountScore, presentScore } from "../../../read/present/native/score.ts";
import { accountScores, explainScore } from "../../../read/queries/users/score.ts";
import { runQuery } from "../../../read/run-query.ts";
import { Count, Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { User } from "../../dialects/native-objects.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Users", surface: "native" });

const MAX_SCORES = 100;
const OFF = "this node has no scores: scores.mode is off";

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const accountFields = {
  fid: Fid,
  score: Share("`scores.unknown` for an account without a score"),
  state: Type.Union([Type.Literal("scored"), Type.Literal("imported"), Type.Literal("unknown")], {
    description: "Whether the score was computed, imported, or is that of unknown accounts",
  }),
  is_seed: Type.Boolean({ description: "Trust flows from this account" }),
  method: nullable(Type.String({ description: "`svc-trust-1`, or the format of the import" })),
  run: nullable(object({ id: Type.Integer(), at: UnixSecs("Time of the run") })),
  rank: nullable(Type.Integer({ minimum: 1, description: "Among all accounts, by what counted" })),
  lowered_by: Type.Array(
    Type.Union([Type.Literal("single_source"), Type.Literal("dormant_sources"), Type.Literal("label")]),
    { description: "Why the score is lower than its evidence" },
  ),
  note: nullable(Type.String({ description: "The reason in an imported file" })),
};

const AccountScore = object(accountFields, { $id: "AccountScore" });

const since = nullable(UnixSecs("The earliest act that is still live"));

const ScoreExplanation = object(
  {
    ...accountFields,
    since,
    sources: Type.Array(
      object({
        user: nullable(User),
        share: Share("Of all that counted"),
        follows: Type.Boolean(),
        replies: Count,
        reactions: Count,
        since,
      }),
      { maxItems: 8, description: "The strongest sources, strongest first" },
    ),
    path: Type.Array(Fid, {
      maxItems: 6,
      description: "From the account to a seed; empty where none is near",
    }),
    facts: object({
      registered_at: nullable(UnixSecs("First registration")),
      storage_units: Count,
      followers: Count,
    }),
  },
  { $id: "ScoreExplanation" },
);

export const scoreOperations = [
  read({
    id: "getUserScore",
    path: "/user/score",
    price: perIds(2),
    summary: "The score of a user and what it is from, or the scores of several users",
    description:
      "With `fid`, one user with sources; with `fids`, a list without them. 404 while `scores.mode` is off. " +
      "See docs/scores.md for the method and for what it can be wrong about.",
    query: { fid: optional(fid()), fids: optional(fidList({ maxItems: MAX_SCORES })) },
    response: Type.Union([ScoreExplanation, object({ scores: Type.Array(AccountScore) })]),
    errors: ["notFound"],
    run({ reads }, { query: { fid, fids } }) {
      if ((fid === undefined) === (fids === undefined))
        throw new ApiError("badRequest", "exactly one of fid and fids is required");
      const source = reads.cache.scores;
      if (!source) throw new ApiError("notFound", OFF);
      if (fids !== undefined)
        return runQuery(
          reads,
          (db) => accountScores(db, source, fids),
          () => ({}),
          (scores) => ({ scores: scores.map(presentAccountScore) }),
        );
      const shown = runQuery(
        reads,
        (db) => explainScore(db, source, fid ?? 0),
        (found) => ({ fids: found ? [found.fid, ...found.sources.map((each) => each.fid)] : [] }),
        (found, hydration) => found && presentScore(found, hydration),
      );
      if (!shown) throw new ApiError("notFound", "no user has this fid");
      return shown;
    },
  }),
];
