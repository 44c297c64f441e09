import type { Language } from "./other-languages.ts";

/** Names of invented people: the written form of each part and, for usernames, its spelling in a-z. */
export interface NameParts {
  readonly given: readonly (readonly [written: string, spelt: string])[];
  readonly family: readonly (readonly [written: string, spelt: string])[];
  readonly familyFirst: boolean;
  readonly separator: string;
}

const GIVEN_ENGLISH =
  "Mira Tove Oskar Sable Juno Linus Petra Ansel Wilma Corin Edda Felix Greta Hollis Ingrid Jasper Kaia Leif Maren Nico Odile Perrin Quill Rhea Soren Tilda Ulric Vesna Wren Xenia Yara Zeno Amos Briony Cedar Delphi Emrys Fern Gideon Hazel Isolde Jory Kit Lorna Milo Nell Otto Pia Rowan Silas Thea Una Viggo Willa Yorick Zelda Abel Bea Cato Dora Elio Fay Gus Hattie Ivo Jess Koa Lulu Max Noor";
const FAMILY_ENGLISH =
  "Alder Bramble Copperfern Dunmore Eddystone Fernsby Gullwing Hawthorn Inkwell Juniper Kestrel Larkspur Mossley Nettle Oakhollow Pinder Quarry Redshank Saltmarsh Thistle Umber Vale Willowby Yarrow Zephyr Ashgrove Birchall Cloudsley Driftwood Elderby Foxglove Greywater Heatherly Islay Jackdaw Kelpie Lanternby Marrow Northcote Osprey Plover Quince Rushlight Sorrel Tamarisk Underhill Violetta Whinberry Yewdale Applegarth Barleymow Candlewick Dewberry Embers Finchley Goldcrest Hollyhock Ironwood";

export const NAMES: Record<Language, NameParts> = {
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

/** Reads names separated by spaces: `written=spelt`, or one word whose spelling is its lower-case form. */
function parts(source: string): (readonly [string, string])[] {
  return source.split(" ").map((name) => {
    const [written = name, spelt = name.toLowerCase()] = name.split("=");
    return [written, spelt] as const;
  });
}
