import { describe, expect, test } from "bun:test";
import { type ChannelView, channelRefusal } from "../../../src/protocol/channels/authority.ts";
import {
  MAX_MEMBER_SLOTS,
  MAX_MODERATION_SLOTS,
  MAX_MODERATORS,
  MemberState,
} from "../../../src/protocol/channels/slots.ts";
import {
  ChannelMemberAction as Action,
  ChannelModerateAction,
  MembershipMode,
  type MessageData,
} from "../../../src/protocol/wire/generated/message.ts";

const CHANNEL_ID = new Uint8Array(32).fill(7);
const OWNER = 1;
const AUTHOR = 2;
const TARGET = 3;

type Body = MessageData["body"];

const member = (fid: number, action: Action): Body => ({
  $case: "channelMemberBody",
  value: { channelId: CHANNEL_ID, fid, action },
});
const update: Body = {
  $case: "channelUpdateBody",
  value: {
    channelId: CHANNEL_ID,
    name: "n",
    description: undefined,
    imageUrl: undefined,
    header: undefined,
    rules: undefined,
    castingMode: undefined,
    membershipMode: undefined,
  },
};
const pin: Body = { $case: "channelPinBody", value: { channelId: CHANNEL_ID, castHash: new Uint8Array(20) } };
const hide: Body = {
  $case: "channelModerateBody",
  value: {
    channelId: CHANNEL_ID,
    castHash: new Uint8Array(20),
    action: ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE,
  },
};

function view(states: Readonly<Record<number, MemberState>>, over: Partial<ChannelView> = {}): ChannelView {
  return {
    isRegistered: true,
    ownerFid: OWNER,
    membershipMode: MembershipMode.MEMBERSHIP_MODE_APPROVAL,
    moderators: Object.values(states).filter((state) => state === MemberState.Moderator).length,
    memberSlots: Object.keys(states).length,
    moderationSlots: 0,
    memberState: (fid) => states[fid] ?? MemberState.None,
    hasSlot: () => false,
    ...over,
  };
}

const ROLES = ["owner", "moderator", "member", "other"] as const;
const STATES = Object.values(MemberState);
const MODES = [MembershipMode.MEMBERSHIP_MODE_OPEN, MembershipMode.MEMBERSHIP_MODE_APPROVAL];
const ACTIONS = [1, 2, 3, 4, 5, 6] as Action[];
const STATE_OF_ROLE = {
  owner: MemberState.None,
  moderator: MemberState.Moderator,
  member: MemberState.Member,
  other: MemberState.None,
};

/** The table of the protocol, written down a second time: the states that an action is allowed for, and who may act on each. */
const ALLOWED: Readonly<Record<number, Readonly<Partial<Record<MemberState, readonly string[]>>>>> = {
  [Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER]: {
    [MemberState.None]: ["owner", "moderator"],
    [MemberState.Removed]: ["owner", "moderator"],
  },
  [Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER]: {
    [MemberState.Member]: ["owner", "moderator"],
    [MemberState.Moderator]: [],
  },
  [Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR]: {
    [MemberState.None]: ["owner"],
    [MemberState.Removed]: ["owner"],
    [MemberState.Member]: ["owner"],
  },
  [Action.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR]: { [MemberState.Moderator]: ["owner"] },
  [Action.CHANNEL_MEMBER_ACTION_BAN]: {
    [MemberState.None]: ["owner", "moderator"],
    [MemberState.Removed]: ["owner", "moderator"],
    [MemberState.Member]: ["owner", "moderator"],
    [MemberState.Moderator]: ["owner"],
  },
  [Action.CHANNEL_MEMBER_ACTION_UNBAN]: { [MemberState.Banned]: ["owner", "moderator"] },
};

function expected(role: string, action: Action, state: MemberState): string | undefined {
  if (state === MemberState.Banned && action !== Action.CHANNEL_MEMBER_ACTION_UNBAN)
    return "channel member is banned";
  const who = ALLOWED[action]?.[state];
  if (!who) return "invalid channel target state";
  return who.includes(role) ? undefined : "unauthorized channel action";
}

describe("check 10: who may do what to another", () => {
  const cases = ROLES.flatMap((role) =>
    ACTIONS.flatMap((action) =>
      STATES.flatMap((state) => MODES.map((mode) => ({ role, action, state, mode }))),
    ),
  );

  test("the table has 4 x 6 x 5 x 2 cases, and each is the protocol's", () => {
    expect(cases).toHaveLength(240);
    for (const { role, action, state, mode } of cases) {
      const author = role === "owner" ? OWNER : AUTHOR;
      const states = { [AUTHOR]: STATE_OF_ROLE[role], [TARGET]: state };
      const found = channelRefusal(
        { fid: author, body: member(TARGET, action) },
        view(states, { membershipMode: mode }),
      );
      expect([role, action, state, mode, found]).toEqual([
        role,
        action,
        state,
        mode,
        expected(role, action, state),
      ]);
    }
  });

  test("oneself may join an open channel, and leave any as member or moderator", () => {
    const join = member(AUTHOR, Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER);
    const leave = member(AUTHOR, Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER);
    const open = { membershipMode: MembershipMode.MEMBERSHIP_MODE_OPEN };
    expect(channelRefusal({ fid: AUTHOR, body: join }, view({}, open))).toBeUndefined();
    expect(channelRefusal({ fid: AUTHOR, body: join }, view({}))).toBe("unauthorized channel action");
    for (const state of [MemberState.Member, MemberState.Moderator])
      expect(channelRefusal({ fid: AUTHOR, body: leave }, view({ [AUTHOR]: state }))).toBeUndefined();
  });

  test("settings are the owner's, pins and hidden casts also a moderator's", () => {
    const refusals = (body: Body) =>
      ROLES.map((role) =>
        channelRefusal(
          { fid: role === "owner" ? OWNER : AUTHOR, body },
          view({ [AUTHOR]: STATE_OF_ROLE[role] }),
        ),
      );
    const no = "unauthorized channel action";
    expect(refusals(update)).toEqual([undefined, no, no, no]);
    expect(refusals(pin)).toEqual([undefined, undefined, no, no]);
    expect(refusals(hide)).toEqual([undefined, undefined, no, no]);
  });

  test("no one acts on an unknown channel, and a parked one takes only that a member leaves", () => {
    expect(channelRefusal({ fid: OWNER, body: update }, view({}, { isRegistered: false }))).toBe(
      "unknown channel",
    );
    const parked = view({ [AUTHOR]: MemberState.Moderator }, { ownerFid: 0 });
    expect(channelRefusal({ fid: AUTHOR, body: pin }, parked)).toBe("channel is parked");
    const leave = member(AUTHOR, Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER);
    expect(channelRefusal({ fid: AUTHOR, body: leave }, parked)).toBeUndefined();
    expect(channelRefusal({ fid: AUTHOR, body: member(TARGET, 2) }, parked)).toBe("channel is parked");
  });

  test("the owner is never banned", () => {
    const ban = member(OWNER, Action.CHANNEL_MEMBER_ACTION_BAN);
    const found = channelRefusal({ fid: AUTHOR, body: ban }, view({ [AUTHOR]: MemberState.Moderator }));
    expect(found).toBe("unauthorized channel action");
  });

  test("a new slot above the bound is refused, a taken one changes; an eleventh moderator is refused", () => {
    const add = member(TARGET, Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER);
    const full = { memberSlots: MAX_MEMBER_SLOTS, moderationSlots: MAX_MODERATION_SLOTS };
    expect(channelRefusal({ fid: OWNER, body: add }, view({}, full))).toBe("channel slot limit reached");
    expect(channelRefusal({ fid: OWNER, body: hide }, view({}, full))).toBe("channel slot limit reached");
    expect(
      channelRefusal({ fid: OWNER, body: add }, view({}, { ...full, hasSlot: () => true })),
    ).toBeUndefined();
    // Members and hidden casts each have a bound of their own.
    const fullOfMembers = view({}, { memberSlots: MAX_MEMBER_SLOTS });
    const fullOfHidden = view({}, { moderationSlots: MAX_MODERATION_SLOTS });
    expect(channelRefusal({ fid: OWNER, body: hide }, fullOfMembers)).toBeUndefined();
    expect(channelRefusal({ fid: OWNER, body: add }, fullOfHidden)).toBeUndefined();
    const promote = member(TARGET, Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR);
    expect(channelRefusal({ fid: OWNER, body: promote }, view({}, { moderators: MAX_MODERATORS }))).toBe(
      "too many channel moderators",
    );
  });
});
