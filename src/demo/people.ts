import { ENGLISH_TOPICS, type Topic } from "./contents/english.ts";
import type { Language } from "./contents/other-languages.ts";
import type { Texts, Voice } from "./contents/texts.ts";
import { type Random, seededRandom } from "./random.ts";
import { DEMO_FID_COUNT, demoFids } from "./roster.ts";

/** Names of invented people: the written form of each part and, for usernames, its spelling in a-z. */
interface NameParts {
  readonly given: readonly (readonly [written: string, spelt: string])[];
  readonly family: readonly (readonly [written: string, spelt: string])[];
  readonly familyFirst: boolean;
  readonly separator: string;
}

const GIVEN_ENGLISH =
  "Mira Tove Oskar Sable Juno Linus Petra Ansel Wilma Corin Edda Felix Greta Hollis Ingrid Jasper Kaia Leif Maren Nico Odile Perrin Quill Rhea Soren Tilda Ulric Vesna Wren Xenia Yara Zeno Amos Briony Cedar Delphi Emrys Fern Gideon Hazel Isolde Jory Kit Lorna Milo Nell Otto Pia Rowan Silas Thea Una Viggo Willa Yorick Zelda Abel Bea Cato Dora Elio Fay Gus Hattie Ivo Jess Koa Lulu Max Noor";
const FAMILY_ENGLISH =
  "Alder Bramble Copperfern Dunmore Eddystone Fernsby Gullwing Hawthorn Inkwell Juniper Kestrel Larkspur Mossley Nettle Oakhollow Pinder Quarry Redshank Saltmarsh Thistle Umber Vale Willowby Yarrow Zephyr Ashgrove Birchall Cloudsley Driftwood Elderby Foxglove Greywater Heatherly Islay Jackdaw Kelpie Lanternby Marrow Northcote Osprey Plover Quince Rushlight Sorrel Tamarisk Underhill Violetta Whinberry Yewdale Applegarth Barleymow Candlewick Dewberry Embers Finchley Goldcrest Hollyhock Ironwood";

const NAMES: Record<Language, NameParts> = {
  en: {
    given: parts(GIVEN_ENGLISH),
    family: parts(FAMILY_ENGLISH),
    familyFirst: false,
    separator: " ",
  },
  ja: {
    given: parts("柚=yuzu 陽=haru 空=sora 澪=mio 蓮=ren 琴=koto 凪=nagi 楓=kaede"),
    family: parts("青葉=aoba 霧野=kirino 星井=hoshii 水瀬=minase 常盤=tokiwa 風間=kazama 雪代=yukishiro"),
    familyFirst: true,
    separator: " ",
  },
  ko: {
    given: parts("하늘=haneul 별=byeol 솔=sol 누리=nuri 다솜=dasom 가람=garam"),
    family: parts("서=seo 백=baek 노=noh 도=do 남=nam"),
    familyFirst: true,
    separator: "",
  },
  zh: {
    given: parts("星河=xinghe 慕白=mubai 听澜=tinglan 云起=yunqi 知夏=zhixia 南枝=nanzhi"),
    family: parts("陆=lu 沈=shen 顾=gu 叶=ye 温=wen"),
    familyFirst: true,
    separator: "",
  },
  es: {
    given: parts("Lucero Inés=ines Bruno Abril Teo Marisol Ulises Paloma Ciro"),
    family: parts("Robledal Villarena Montesol Campoazul Riofrío=riofrio Nogalera"),
    familyFirst: false,
    separator: " ",
  },
  pt: {
    given: parts("Iara Caio Luana Davi Jussara Tainá=taina Raul"),
    family: parts("Campoverde Serralva Ribeirinho Mataclara Pedrazul"),
    familyFirst: false,
    separator: " ",
  },
};

/** Towns with coordinates to two decimals, as in a location. */
export const TOWNS: Record<Language, readonly string[]> = {
  en: ["geo:51.51,-0.13", "geo:55.95,-3.19", "geo:45.52,-122.68", "geo:-36.85,174.76", "geo:53.35,-6.26"],
  ja: ["geo:35.68,139.69", "geo:34.69,135.50", "geo:43.06,141.35"],
  ko: ["geo:37.57,126.98", "geo:35.18,129.08"],
  zh: ["geo:31.23,121.47", "geo:25.03,121.57"],
  es: ["geo:40.42,-3.70", "geo:19.43,-99.13", "geo:-34.60,-58.38"],
  pt: ["geo:38.72,-9.14", "geo:-23.55,-46.63"],
};

/** Parses names separated by spaces: `written=spelt`, or one word whose spelling is its lowercase form. */
function parts(source: string): (readonly [string, string])[] {
  return source.split(" ").map((name) => {
    const [written = name, spelt = name.toLowerCase()] = name.split("=");
    return [written, spelt] as const;
  });
}

/** A person of the demo network: identity and level of activity. */
export interface Person extends Voice {
  readonly fid: number;
  /** The fname; undefined for the few people without one. */
  readonly fname: string | undefined;
  readonly displayName: string;
  readonly bio: string;
  /** How likely other people are to follow them; 1 for the best known. */
  readonly prominence: number;
  /** Number of casts in the week. */
  readonly castCount: number;
}

/** The first people. The examples in the documentation use them. */
const FIRST_PEOPLE: readonly Pick<Person, "fname" | "displayName" | "bio" | "language" | "topic">[] = [
  first("harbor", "Harbor", "A calm client for a small network. Ask us anything.", "opensource"),
  first("lantern", "Lantern", "The other client. Keyboard first, open to the last line.", "opensource"),
  first("mirawren", "Mira Wren", "Slow bread, fast books, one stubborn fig tree.", "kitchen"),
  first("tove", "Tove Alder", "Maps, trains, and the coffee in between.", "coffee"),
  first("idaquill", "Ida Quill", "Writes long. Edits longer.", "books"),
  first("oskarbramble", "Oskar Bramble", "Half-frame cameras and full pockets of film.", "photography"),
  first("junotide", "Juno Tidewater", "Records quiet songs in loud buildings. 🎹", "music"),
  first("sable", "Sable Kestrel", "One goose, many bugs. Making a small game in public.", "gamedev"),
  first("linusvale", "Linus Vale", "Rides for the cake stops.", "cycling"),
  first("petra", "Petra Rushlight", "Up late for faint things. Binoculars for everyone. ✨", "nightsky"),
  first("corin", "Corin Thistle", "Growing things that should not grow this far north.", "garden"),
  first("biscuit", "Biscuit's Human", "Staff of one cat. Views are the cat's.", "cats"),
];

/** Fids without an fname, which are shown as `!<fid>`. */
const WITHOUT_FNAME: ReadonlySet<number> = new Set([66, 127, 183]);

const LANGUAGE_SHARES: readonly (readonly [Language, number])[] = [
  ["en", 72],
  ["ja", 7],
  ["ko", 5],
  ["zh", 4],
  ["es", 7],
  ["pt", 5],
];
const CAST_TOTAL = 2900;
const LURKER_SHARE = 0.08;
const MAX_FNAME_LENGTH = 16;
const MAX_DISPLAY_BYTES = 32;

/** Returns all people by fid. Every call returns the same people. */
export function demoPeople(texts: Texts): Person[] {
  const random = seededRandom("people");
  const usedFnames = new Set(FIRST_PEOPLE.map((person) => person.fname));
  const topics = Object.keys(ENGLISH_TOPICS) as Topic[];
  const standings = standingsOf(seededRandom("standing"));
  return demoFids().map((fid) => {
    const standing = standings[fid - 1] ?? { prominence: 0, castCount: 0 };
    const known = FIRST_PEOPLE[fid - 1];
    if (known) return { fid, ...known, ...standing };
    const language = LANGUAGE_SHARES[random.weighted(LANGUAGE_SHARES.map(([, share]) => share))]?.[0] ?? "en";
    const topic = random.pick(topics);
    return {
      fid,
      language,
      topic,
      ...stranger(fid, { language, topic }, usedFnames, texts, random),
      ...standing,
    };
  });
}

function first(fname: string, displayName: string, bio: string, topic: Topic) {
  return { fname, displayName, bio, language: "en", topic } as const;
}

function stranger(
  fid: number,
  voice: Voice,
  usedFnames: Set<string | undefined>,
  texts: Texts,
  random: Random,
): Pick<Person, "fname" | "displayName" | "bio"> {
  const names = NAMES[voice.language];
  const bio = texts.bio(voice, random);
  for (;;) {
    const [given, speltGiven] = random.pick(names.given);
    const [family, speltFamily] = random.pick(names.family);
    const order = names.familyFirst ? [family, given] : [given, family];
    const displayName = order.join(names.separator) + random.pick(["", "", "", " 🌿", " ✨", " ☕"]);
    const fname = random.pick([
      `${speltGiven}${speltFamily}`,
      `${speltGiven}-${speltFamily}`,
      `${speltGiven}${speltFamily.slice(0, 3)}`,
      `${speltFamily}${speltGiven.slice(0, 1)}`,
      `${speltGiven}${fid}`,
    ]);
    const fits = fname.length <= MAX_FNAME_LENGTH && Buffer.byteLength(displayName) <= MAX_DISPLAY_BYTES;
    if (!fits || usedFnames.has(fname)) continue;
    usedFnames.add(fname);
    return { fname: WITHOUT_FNAME.has(fid) ? undefined : fname, displayName, bio };
  }
}

/** Returns heavy-tailed fame and activity: a few people are known by most and write a lot, and most are known by few. */
function standingsOf(random: Random): Pick<Person, "prominence" | "castCount">[] {
  // The first people are the best known. All others are in random order, so that fame does not follow the fid.
  const strangers = random.shuffled(
    Array.from({ length: DEMO_FID_COUNT - FIRST_PEOPLE.length }, (_, i) => FIRST_PEOPLE.length + i),
  );
  const ranks = [...FIRST_PEOPLE.keys(), ...strangers];
  const prominence = new Array<number>(DEMO_FID_COUNT).fill(0);
  for (const [rank, index] of ranks.entries()) prominence[index] = 1 / (rank + 1) ** 0.75;
  const output = prominence.map((fame, index) => {
    if (index >= FIRST_PEOPLE.length && random.chance(LURKER_SHARE)) return 0;
    return (0.35 + Math.sqrt(fame)) * (0.3 + random.next() ** 2 * 3);
  });
  const sum = output.reduce((total, share) => total + share, 0);
  return prominence.map((fame, index) => ({
    prominence: fame,
    castCount: Math.round(((output[index] ?? 0) / sum) * CAST_TOTAL),
  }));
}
