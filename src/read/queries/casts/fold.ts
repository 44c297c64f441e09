import { scoresOf } from "../../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { HydrationCache } from "../../hydrate/cache.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import type { SelectVisible } from "../../rules/visible-page.ts";

/** Which direct replies of a conversation are shown: those above the fold, or those below it. */
export type FoldSide = "above" | "below";

interface ReplyAuthor {
  readonly id: number;
  readonly fid: number;
  /** Whether the viewer follows the author, or the cast's author wrote, liked or replied to the reply. */
  readonly isLifted: number;
}

const replyAuthors = statement<ReplyAuthor, [repliesJson: string, castId: number, viewerFid: number | null]>(
  "fold.authors",
  `SELECT r.id, r.fid, r.fid = root.fid
     OR EXISTS (SELECT 1 FROM links l WHERE l.fid = ?3 AND l.type = ${LinkType.Follow} AND l.target_fid = r.fid)
     OR EXISTS (SELECT 1 FROM reactions n WHERE n.fid = root.fid AND n.target_fid = r.fid AND n.target_id = r.id
       AND n.type = ${ReactionType.REACTION_TYPE_LIKE})
     OR EXISTS (SELECT 1 FROM casts a WHERE a.fid = root.fid AND a.parent_id = r.id) AS isLifted
   FROM casts root CROSS JOIN json_each(?1) j CROSS JOIN casts r ON r.id = j.value WHERE root.id = ?2`,
);

/**
 * Selects direct replies to a cast by the side of the fold. A reply is below it when its author has a low score, unless the viewer follows the
 * author, or the author of the cast wrote, liked or replied to it. Where scores do not decide, every reply is above.
 */
export function selectFold<Row extends CastRef>(
  { db, cache }: { readonly db: IndexDatabase; readonly cache: Pick<HydrationCache, "scores"> },
  side: FoldSide,
  conversation: { readonly castId: number; readonly viewerFid: number | undefined },
): SelectVisible<Row> {
  const policy = cache.scores?.enforced.has("fold") ? cache.scores : undefined;
  if (!policy) return (rows) => (side === "above" ? rows : []);
  const { castId, viewerFid = null } = conversation;
  return (rows) => {
    const authors = db.all(replyAuthors, JSON.stringify(rows.map(({ id }) => id)), castId, viewerFid);
    const scores = scoresOf(db, policy.mode, [...new Set(authors.map(({ fid }) => fid))]);
    const isLow = (fid: number) => (scores.get(fid) ?? policy.unknown) < policy.foldBelow;
    const below = new Set(
      authors.flatMap(({ id, fid, isLifted }) => (isLifted === 0 && isLow(fid) ? [id] : [])),
    );
    return rows.filter(({ id }) => below.has(id) === (side === "below"));
  };
}
