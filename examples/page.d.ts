/** The elements of the pages. Each script knows its own. */
interface ParentNode {
  // biome-ignore lint/suspicious/noExplicitAny: the script knows which element it is
  querySelectorAll(selectors: string): Iterable<any>;
}

interface Document {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  getElementById(id: string): any;
}
