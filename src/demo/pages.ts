const HOST = "demo.example";

/** Response of the demo network's own site for a URL. Undefined for URLs of other sites and for unknown pages. */
export type DemoPage =
  | { readonly kind: "html"; readonly html: string }
  | { readonly kind: "image"; readonly width: number; readonly height: number };

/** Returns a page of the demo network's site, which its casts link to. It is generated from the URL and never fetched. */
export function demoPage(href: string): DemoPage | undefined {
  const url = URL.parse(href);
  if (url?.hostname !== HOST) return undefined;
  const [, section = "", name = "", number = ""] = url.pathname.split("/");
  if (section === "pictures") return { kind: "image", width: 1200, height: 800 };
  if (section === "articles" && name === "slow-bread")
    return article(href, "Slow bread", "Flour, water, salt, and a day in which you do other things.", 7);
  if (section !== "read" || !/^[a-z-]{1,40}$/.test(name) || !/^[1-9]\d{0,3}$/.test(number)) return undefined;
  const topic = name.replaceAll("-", " ");
  return article(
    href,
    `${topic.slice(0, 1).toUpperCase()}${topic.slice(1)}, part ${number}`,
    `Part ${number} of the notes on ${topic} that people of the demo network share.`,
    Number(number),
  );
}

function article(href: string, title: string, description: string, picture: number): DemoPage {
  return {
    kind: "html",
    html: `<!doctype html><html lang="en"><head><title>${title}</title>
<meta property="og:title" content="${title}"><meta property="og:description" content="${description}">
<meta property="og:url" content="${href}"><meta property="og:type" content="article"><meta property="og:site_name" content="The Demo Reader">
<meta property="og:image" content="https://${HOST}/pictures/${picture}.jpg"><meta property="og:image:width" content="1200"><meta property="og:image:height" content="800">
</head><body></body></html>`,
  };
}
