import { statement } from "../../db/index/statement.ts";
import type { KeyShape, ListPage, Page, PagePosition } from "../cursor.ts";
import type { CastRef } from "../hydrate/casts.ts";
import { type OwnerRules, openRelations, type Relations, type TieSource } from "../hydrate/relations.ts";
import { type SelectVisible, visiblePage } from "./visible-page.ts";

/** The viewer of a list, and the account whose list it is. */
export interface Audience {
  readonly viewerFid: number | undefined;
  /**
   * The account that the request asks for. Its list is empty if it is banned, or if it and the viewer block each other in
   * either direction. A mute does not hide it here, because the viewer asks for it.
   */
  readonly subjectFid?: number | undefined;
}

/** A cast of a list. `recasterFid` is the account that recasted it, if it is shown for that reason. */
export interface ListedCast extends CastRef {
  readonly recasterFid?: number | undefined;
}

/** Selects the rows of a list that its viewer is shown. All lists share this definition. */
export interface ListRules {
  /** Whether the list is empty for this viewer. */
  readonly isClosed: boolean;
  /** Selects rows of accounts by the accounts' own relation to the viewer. */
  readonly accounts: <Row extends { readonly fid: number }>(rows: readonly Row[]) => readonly Row[];
  /**
   * Selects casts whose author (and recaster, if they are shown for a recast) is not hidden. Replies are dropped if their
   * parent or root is by a banned account, or by one that the viewer blocks or is blocked by.
   */
  readonly casts: <Row extends ListedCast>(rows: readonly Row[]) => readonly Row[];
  /** Selects casts by their author only. */
  readonly byAuthor: <Row extends CastRef>(rows: readonly Row[]) => readonly Row[];
  /** Selects notifications by the actor, and mentions and replies also as casts. */
  readonly acts: <Row extends Act>(rows: readonly Row[]) => readonly Row[];
  /** Reports whether the viewer blocks or mutes the account, rather than being blocked by it. */
  readonly isHiddenByViewer: (fid: number) => boolean;
}

/** An act that notified a user. `castId` is the cast that mentions or replies, if it is one. */
interface Act {
  readonly actorFid: number;
  readonly castId?: number | undefined;
}

interface CastPeople {
  readonly id: number;
  readonly fid: number;
  readonly parentFid: number | null;
  readonly rootFid: number | null;
}

const castPeople = statement<CastPeople, [idsJson: string]>(
  "rules.cast-people",
  `SELECT c.id, c.fid, c.parent_fid AS parentFid, c.root_fid AS rootFid
   FROM json_each(?) j CROSS JOIN casts c ON c.id = j.value`,
);

/** The reader: a connection in a snapshot, and the lists of the owner of the request's API key. */
export interface RuleSource extends TieSource {
  /** Undefined without a key, and for an owner without lists. */
  readonly owner?: OwnerRules | undefined;
}

/**
 * Returns the rules of a list; undefined if nothing can be hidden from its reader. That costs nothing without a viewer and a
 * list of bans.
 */
export function openListRules(
  source: RuleSource,
  { viewerFid, subjectFid }: Audience,
): ListRules | undefined {
  const { db, owner } = source;
  const isAnyone = viewerFid === undefined && owner === undefined;
  const relations = isAnyone ? undefined : openRelations(source, viewerFid, owner);
  if (!relations) return undefined;
  const isActorHidden = (fid: number): boolean => {
    const reason = relations.reasonFor(fid);
    return reason !== undefined && !(reason === "muting" && fid === subjectFid);
  };
  const isShown = ({ fid, parentFid, rootFid }: CastPeople): boolean =>
    !isActorHidden(fid) &&
    !(parentFid !== null && isBlock(relations, parentFid)) &&
    !(rootFid !== null && isBlock(relations, rootFid));
  /** Returns the authors of casts, and loads the relations to all of them. */
  const peopleOf = (ids: readonly number[], others: readonly number[] = []): Map<number, CastPeople> => {
    const rows = ids.length === 0 ? [] : db.all(castPeople, JSON.stringify(ids));
    relations.load([
      ...others,
      ...rows.flatMap(({ fid, parentFid, rootFid }) => [fid, parentFid ?? fid, rootFid ?? fid]),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  };
  const idsOf = (rows: readonly CastRef[]) => rows.map(({ id }) => id);
  return {
    isClosed: subjectFid !== undefined && isBlock(relations, subjectFid),
    accounts(rows) {
      relations.load(rows.map(({ fid }) => fid));
      return rows.filter(({ fid }) => !isActorHidden(fid));
    },
    casts(rows) {
      const recasters = rows.flatMap(({ recasterFid }) => recasterFid ?? []);
      const people = peopleOf(idsOf(rows), recasters);
      return rows.filter(({ id, recasterFid }) => {
        const cast = people.get(id);
        return cast && isShown(cast) && !(recasterFid !== undefined && isActorHidden(recasterFid));
      });
    },
    byAuthor(rows) {
      const people = peopleOf(idsOf(rows));
      return rows.filter(({ id }) => {
        const cast = people.get(id);
        return cast && !isActorHidden(cast.fid);
      });
    },
    acts(rows) {
      const actors = rows.map(({ actorFid }) => actorFid);
      const people = peopleOf(
        rows.flatMap(({ castId }) => castId ?? []),
        actors,
      );
      return rows.filter(({ actorFid, castId }) => {
        if (isActorHidden(actorFid)) return false;
        const cast = castId === undefined ? undefined : people.get(castId);
        return !cast || isShown(cast);
      });
    },
    isHiddenByViewer: (fid) => {
      const reason = relations.reasonFor(fid);
      return reason === "blocking" || reason === "muting";
    },
  };
}

/** Reports whether an account is hidden by more than a mute. */
function isBlock(relations: Relations, fid: number): boolean {
  const reason = relations.reasonFor(fid);
  return reason !== undefined && reason !== "muting";
}

/**
 * Returns a page of a list as its viewer sees it.
 *
 * @param read returns a page of the whole list.
 * @param select returns which rows the rules show.
 */
export function ruledPage<Shape extends KeyShape, Row>(
  rules: ListRules | undefined,
  page: ListPage<Shape>,
  read: (page: PagePosition<Shape>) => Page<Row>,
  select: (rules: ListRules) => SelectVisible<NoInfer<Row>>,
): Page<Row> {
  if (rules?.isClosed) return { rows: [], cursor: null };
  return visiblePage(page, rules && select(rules), read);
}
