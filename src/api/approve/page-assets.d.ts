// Imported `with { type: "text" }`: Bun gives the content of the asset, within the binary once compiled.
declare module "*/page.client.js" {
  const content: string;
  export default content;
}

declare module "*/page.css" {
  const content: string;
  export default content;
}
