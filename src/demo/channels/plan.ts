import { CastingMode, MembershipMode } from "../../protocol/wire/generated/message.ts";

/** The registered channels of the demo network, one of each kind. Their owners are people with a verified wallet. */

/** A cast in a channel. `likedBy` contains fids. */
export interface ChannelCast {
  readonly fid: number;
  readonly text: string;
  readonly likedBy?: readonly number[];
  readonly isHidden?: true;
  readonly isPinned?: true;
}

export interface DemoChannel {
  readonly key: string;
  readonly ownerFid: number;
  /** Absent for a channel without settings. */
  readonly settings?: {
    readonly name: string;
    readonly description: string;
    readonly rules?: string;
    readonly castingMode: CastingMode;
    readonly membershipMode: MembershipMode;
  };
  readonly moderators: readonly number[];
  readonly members: readonly number[];
  readonly banned: readonly number[];
  readonly followers: readonly number[];
  /** Oldest first. */
  readonly casts: readonly ChannelCast[];
  /** Whether the token was transferred to a wallet that no one has verified, at the end of the week. */
  readonly isParked?: true;
}

const { CASTING_MODE_EVERYONE, CASTING_MODE_MEMBERS_ONLY } = CastingMode;
const { MEMBERSHIP_MODE_OPEN, MEMBERSHIP_MODE_APPROVAL } = MembershipMode;

const everyNth = (first: number, step: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at * step);

export const DEMO_CHANNELS: readonly DemoChannel[] = [
  {
    key: "night-trains",
    ownerFid: 9,
    settings: {
      name: "Night Trains",
      description: "Sleepers, timetables, and breakfast at the border.",
      rules: "Name the route. No selling of tickets.",
      castingMode: CASTING_MODE_EVERYONE,
      membershipMode: MEMBERSHIP_MODE_OPEN,
    },
    moderators: [4, 6],
    members: [3, 7, 10, 11, 20, 33, 52],
    banned: [77],
    followers: everyNth(3, 3, 34),
    casts: [
      {
        fid: 9,
        text: "Welcome aboard. Tell us which route you took, and whether you slept.",
        isPinned: true,
        likedBy: [4, 6, 3],
      },
      {
        fid: 4,
        text: "The 22:10 to the coast now has a dining car again. Soup at midnight, hills at dawn.",
        likedBy: [9, 7, 20],
      },
      { fid: 77, text: "CHEAP TICKETS for every train, write to me now!!!" },
      {
        fid: 20,
        text: "Does anyone know if bicycles may travel on the northern sleeper in winter?",
        likedBy: [6],
      },
      { fid: 120, text: "First. Also last. Also this joke again.", isHidden: true },
      {
        fid: 6,
        text: "Photographed the same bridge from three trains in one week. It looks best at four in the morning.",
        likedBy: [9, 3, 33],
      },
      {
        fid: 33,
        text: "Woke up in another country and nobody had noticed, not even the kettle.",
        likedBy: [4],
      },
    ],
  },
  {
    key: "atelier",
    ownerFid: 5,
    settings: {
      name: "Atelier",
      description: "Drafts from people who finish them. Members write, everybody reads.",
      castingMode: CASTING_MODE_MEMBERS_ONLY,
      membershipMode: MEMBERSHIP_MODE_APPROVAL,
    },
    moderators: [3],
    members: [6, 8, 12, 24],
    banned: [],
    followers: everyNth(5, 5, 18),
    casts: [
      {
        fid: 5,
        text: "Week one: bring a page that you were about to throw away.",
        isPinned: true,
        likedBy: [3, 6, 8],
      },
      { fid: 24, text: "Mine began as a recipe and ended as an apology.", likedBy: [5] },
      { fid: 40, text: "Not a member yet, but may I show you a sonnet about gravel?", likedBy: [3] },
      { fid: 8, text: "The goose is now the narrator. Nothing else worked.", likedBy: [5, 12] },
      { fid: 41, text: "How does one become a member here?" },
    ],
  },
  {
    key: "star-charts",
    ownerFid: 8,
    settings: {
      name: "Star Charts",
      description: "What was up last night, and where to look tomorrow.",
      castingMode: CASTING_MODE_EVERYONE,
      membershipMode: MEMBERSHIP_MODE_OPEN,
    },
    moderators: [10],
    members: [11, 30],
    banned: [],
    followers: everyNth(10, 7, 9),
    casts: [
      { fid: 10, text: "Clear until two. The faint one in Lyra was easy for once.", likedBy: [8, 11] },
      { fid: 30, text: "Clouds here. I drew what I would have seen.", likedBy: [10] },
    ],
    isParked: true,
  },
  {
    key: "bread-club",
    ownerFid: 3,
    moderators: [],
    members: [],
    banned: [],
    followers: [3, 5, 11, 40],
    casts: [
      {
        fid: 3,
        text: "Registered this on a whim. Rules to follow, as soon as the dough has risen.",
        likedBy: [5, 11],
      },
      { fid: 11, text: "Rye, two days, no regrets.", likedBy: [3] },
    ],
  },
];
