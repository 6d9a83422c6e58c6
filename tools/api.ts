/**
 * Writes docs/reference/api/: a page for each area of the library, of the client and of its hub, with everything that the packages
 * export, from its docstrings; and an index.
 */
import {
  clientNames,
  type Doc,
  documentedNames,
  type Member,
  oneLine,
  type PublicName,
  pathOf,
} from './declared.ts';
import { type Drawn, table } from './draw.ts';
import { CODES } from './errors.ts';

interface Area {
  readonly title: string;
  /** The paths of the files that it describes: in src/, or from the root for those of the client. */
  readonly sources: RegExp;
  /** The text before the symbols. */
  readonly introduction: string;
}

/** The pages, by name. Each symbol is on the first one that matches its file. */
const AREAS: { readonly [page: string]: Area } = {
  client: {
    title: 'The client',
    sources: /^client\/src\/(?!hub|mqtt-hub|derive)/,
    introduction:
      'A client that stays connected, over each transport: its options, methods and [events](client.md#clientevent). ' +
      'The [guides](../../README.md#guides-how-do-i) have whole programs.',
  },
  hub: {
    title: 'A hub in Node.js',
    sources: /^client\/src\/(?:hub|mqtt-hub|derive)/,
    introduction:
      'The protocol for hubs, over WebSocket and MQTT. [A hub in Node.js](../../guides/hub.md) is a whole program.',
  },
  sessions: {
    title: 'Sessions',
    sources: /^session\/(?!psk)|^wire\/reassembler\.ts#(?:\w+Event|Reassembled)$/,
    introduction:
      'One connection, as the client or as the hub, its options and its events. ' +
      '[sessions.md](../sessions.md) has the states and how a connection ends, [protocol.md](../protocol.md#hello-and-the-offer) the rules.',
  },
  link: {
    title: 'The link',
    sources: /^link\//,
    introduction:
      'A client across all its connections: it orders what to open, write, store and derive. [The link](../sessions.md#the-link) has the rules and a shell.',
  },
  keyring: {
    title: 'The keyring',
    sources: /^keyring\//,
    introduction:
      'What a client stores in addition to its identity: static key, pins and PSKs. The rules: ' +
      '[Keys, pins and the PSK](../protocol.md#keys-pins-and-the-psk).',
  },
  psk: {
    title: 'The PSK and Argon2id',
    sources: /^session\/psk|^noise\/argon2id/,
    introduction:
      'The pre-shared key of a client at a hub is Argon2id of the password. The rules: [The PSK](../protocol.md#the-psk).',
  },
  recording: {
    title: 'Recordings',
    sources: /^recording\//,
    introduction:
      'Sessions that are recorded, to find out why a handshake failed. ' +
      '[Recordings](../commands.md#recordings) describes the lines, and the command that reads them.',
  },
  binary: {
    title: 'Binary messages',
    sources: /^binary\//,
    introduction:
      'What hubs send and take as bytes: speech, files, pictures, and everything else under `binarize`. The rules: ' +
      '[Binary messages](../protocol.md#binary-messages).',
  },
  policy: {
    title: 'Staying connected',
    sources: /^policy\//,
    introduction:
      'When a client dials, how long it waits, when it asks a person. [policy.md](../policy.md) has the rules as tables.',
  },
  requests: {
    title: 'Requests and replies',
    sources: /^requests\//,
    introduction:
      'What to ask a hub, and what it answers. [requests.md](../requests.md) has a program and the rules as tables.',
  },
  identity: {
    title: 'Identities',
    sources: /^identity\/|^url/,
    introduction:
      'What a client was issued: credentials, addresses, texts. [identity.md](../identity.md) has all names of the fields.',
  },
  mqtt: {
    title: 'MQTT',
    sources: /^mqtt-topics\//,
    introduction: 'Broker, topics, client id and presence. [mqtt.md](../mqtt.md) has the order of things.',
  },
  crypto: {
    title: 'Cryptography',
    sources: /^crypto\/|^bytes/,
    introduction:
      'Cryptography is passed in: one of the providers below, or your own. ' +
      '[install.md](../install.md#which-provider) compares the providers.',
  },
  noise: {
    title: 'Noise',
    sources: /^noise\//,
    introduction:
      'The handshake and the transport without protocol 3, for other uses of Noise. Sessions contain all of it.',
  },
  wire: {
    title: 'JSON and frames',
    sources: /^wire\//,
    introduction:
      'The bytes of messages. Sessions contain all of it. The rules: [JSON](../protocol.md#json), ' +
      '[Frames and chunks](../protocol.md#frames-and-chunks).',
  },
  errors: {
    title: 'The classes of errors',
    sources: /^errors|^arguments/,
    introduction: '[errors.md](../errors.md) has every code: who raises it, and what to do.',
  },
};

const NAMES: readonly PublicName[] = [...documentedNames(), ...clientNames()];

/** What distinguishes the functions of one name that several entries of the client export. */
const VARIANTS: { readonly [entry: string]: string } = {
  'hub-protocol-client/mqtt': 'over MQTT',
  'hub-protocol-client/https': 'over HTTPS',
  'hub-protocol-client/browser': 'in a browser',
  'hub-protocol-client/react-native': 'in React Native',
  'hub-protocol-client/hub/mqtt': 'over MQTT',
};

/** A name as its heading has it. */
function headingOf(symbol: PublicName): string {
  const isFirst = NAMES.find(({ name }) => name === symbol.name) === symbol;
  return isFirst ? symbol.name : `${symbol.name} ${VARIANTS[symbol.entry]}`;
}

function pageOf({ source, name }: PublicName): string {
  return Object.keys(AREAS).find((page) => AREAS[page]!.sources.test(`${source}#${name}`))!;
}

/** Classes and functions first, then values, then types, each in their order in src/index.ts and src/parts.ts. */
function namesOf(page: string): PublicName[] {
  const rank = ({ kind }: PublicName): number =>
    kind === 'class' || kind === 'function' ? 0 : kind === 'value' ? 1 : 2;
  return NAMES.filter((symbol) => pageOf(symbol) === page).sort((a, b) => rank(a) - rank(b));
}

/** The page and the anchor of each heading. GitHub distinguishes headings that differ only in case by a number. */
const TARGETS: ReadonlyMap<string, { readonly page: string; readonly anchor: string }> = new Map(
  Object.keys(AREAS).flatMap((page) => {
    const headings = namesOf(page).map(headingOf);
    const slugs = headings.map((heading) => heading.toLowerCase().replace(/ /g, '-'));
    return headings.map((heading, index) => {
      const earlier = slugs.slice(0, index).filter((slug) => slug === slugs[index]).length;
      const anchor = earlier === 0 ? slugs[index]! : `${slugs[index]}-${earlier}`;
      return [heading, { page, anchor }] as const;
    });
  }),
);

/** A link to a public name, for a page of docs/reference/api/. */
function linkTo(name: string, text: string = `\`${name}\``): string {
  const { page, anchor } = TARGETS.get(name)!;
  return `[${text}](${page}.md#${anchor})`;
}

/** The anchor of each code in docs/reference/errors.md. A code of both classes has two headings. */
const ANCHORS: ReadonlyMap<string, string> = new Map(
  CODES.map((key, index, all) => {
    const code = key.split(' ')[1]!;
    const earlier = all.slice(0, index).filter((other) => other.endsWith(` ${code}`)).length;
    return [key, earlier === 0 ? code : `${code}-${earlier}`];
  }),
);

/** Prose of a docstring with its links: to names, and in a `@throws` to codes. */
function linked(text: string): string {
  return text
    .replace(/\{@link (\w+)\.(\w+)\}/g, (_, owner: string, method: string) => {
      const { page } = TARGETS.get(owner)!;
      return `[\`${owner}.${method}\`](${page}.md#${(owner + method).toLowerCase()})`;
    })
    .replace(/\{@link (\w+)\}/g, (_, name: string) => (TARGETS.has(name) ? linkTo(name) : `\`${name}\``))
    .replace(/\b(\w+)\(\)/g, (call, name: string) => (TARGETS.has(name) ? linkTo(name, `${call}`) : call));
}

function linkedCodes(text: string): string {
  let errorClass = 'LocalError';
  return linked(text).replace(/\b(LocalError|RemoteError)\b|(?<!\[)`([a-z0-9-]+)`/g, (word, name, code) => {
    if (name !== undefined) errorClass = name as string;
    const anchor = ANCHORS.get(`${errorClass} ${code}`);
    return anchor === undefined ? word : `[${word}](../errors.md#${anchor})`;
  });
}

/** In a cell of a table. */
function cell(text: string): string {
  return oneLine(text).replace(/\|/g, '\\|');
}

/** A type, which is a link if it is a public name, or an array of one. */
function shownType(type: string): string {
  const [, before = '', name, after = ''] =
    /^(readonly )?([A-Z]\w*)((?:\[\])?(?: \| undefined)?)$/.exec(type) ?? [];
  const shown = (text: string): string => cell(`\`${text}\``);
  return name !== undefined && TARGETS.has(name) ? linkTo(name, shown(before + name + after)) : shown(type);
}

const DEFAULT = / ?\((?:default|by default)[: ]+((?:[^()]|\([^()]*\))+)\)/;

/** The default of an option, from its docstring. */
export function defaultOf({ isOptional, doc }: Member): string {
  return isOptional ? (DEFAULT.exec(oneLine(doc?.text ?? ''))?.[1] ?? '') : 'required';
}

function fieldRows(owner: PublicName, members: readonly Member[], prefix: string): string[] {
  const isInputs = isInput(owner.name);
  return members.flatMap((member) => {
    const { name, kind, isOptional, doc, type, signature, members: inner } = member;
    const path = `${prefix}${name}`;
    const shown =
      kind === 'method' ? path + signature.slice(signature.indexOf('(')).replace(/\): .*/, ')') : path;
    const result = kind === 'method' ? signature.slice(signature.lastIndexOf('): ') + 3) : type;
    if (kind === 'method' && doc === undefined)
      throw new Error(`${pathOf(owner.source)}: ${owner.name}.${path} has no docstring`);
    const about =
      doc === undefined ? '' : [linked(doc.text), ...(kind === 'method' ? details(doc) : [])].join(' ');
    const cells = [
      `\`${cell(shown)}\`${isOptional && !isInputs ? ' (optional)' : ''}`,
      inner.length > 0 ? 'object' : shownType(result.replace(/ \| undefined$/, '')),
      ...(isInputs ? [cell(linked(defaultOf(member)))] : []),
      cell(isInputs ? oneLine(about).replace(DEFAULT, '') : about),
    ];
    return [`| ${cells.join(' | ')} |`, ...fieldRows(owner, inner, `${path}.`)];
  });
}

/** The parameters and the result of a method, as sentences. */
function details({ params, returns, throws }: Doc): string[] {
  return [
    ...[...params].map(([name, meaning]) => `\`${name}\`: ${linked(meaning)}.`),
    ...(returns === undefined ? [] : [`Returns ${linked(returns)}.`]),
    ...throws.map((each) => `Throws ${linkedCodes(each)}.`),
  ];
}

/** Whether users write objects of this type, whose optional fields have defaults. */
export function isInput(name: string): boolean {
  return /(?:Options|Fields|Request|Inputs|Situation)$/.test(name);
}

export function membersTable(symbol: PublicName): string[] {
  const { name, members } = symbol;
  const head = isInput(name)
    ? ['| Field | Type | Default | Meaning |', '| --- | --- | --- | --- |']
    : ['| Field | Type | Meaning |', '| --- | --- | --- |'];
  return members.length === 0 ? [] : [[...head, ...fieldRows(symbol, members, '')].join('\n')];
}

/** The parameters, the result and the errors of a function or method. */
function contract(doc: Doc | undefined, types: ReadonlyMap<string, string>): string[] {
  if (doc === undefined) return [];
  const lines = [...types].flatMap(([name, type]) => {
    const meaning = doc.params.get(name);
    const shown = TARGETS.has(type) ? `, ${linkTo(type)}` : '';
    return meaning === undefined && shown === ''
      ? []
      : [`- \`${name}\`${shown}${meaning === undefined ? '' : `: ${linked(meaning)}`}`];
  });
  if (doc.returns !== undefined) lines.push(`- Returns ${linked(doc.returns)}`);
  lines.push(...doc.throws.map((each) => `- Throws ${linkedCodes(each)}`));
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** The types of the parameters of a declaration, by name. */
function typesOf(params: readonly string[], signature: string): Map<string, string> {
  return new Map(
    params.map((name) => [name, new RegExp(`\\b${name}\\??: (\\w+)`).exec(signature)?.[1] ?? '']),
  );
}

function fence(code: string): string {
  return `\`\`\`ts\n${code.trim()}\n\`\`\``;
}

function footer({ entry, source, doc }: PublicName): string {
  const see = (doc?.see ?? []).map((each) => `${each}; `).join('');
  const path = pathOf(source);
  const from = entry === '' ? 'A part of types that are exported' : `From \`${entry}\``;
  return `<sub>${from}. Source: ${see}[${path}](../../../${path})</sub>`;
}

function section(symbol: PublicName): string {
  const { name, kind, doc, members, events } = symbol;
  const parts: string[] = [`## ${headingOf(symbol)}`];
  const code = oneLine(symbol.code);
  const isTable = kind === 'interface' || /^type \w+ = Omit<Told</.test(code);
  const isShown =
    kind === 'value' || (kind === 'type' && !isTable && events.length === 0 && !/TRANSITIONS/.test(code));
  if (kind === 'function') parts.push(fence(code.replace(/^function /, '')));
  if (doc !== undefined) parts.push(linked(doc.text));
  if (kind !== 'function' && isShown) parts.push(fence(kind === 'value' ? code : symbol.code));
  if (kind === 'function') parts.push(...contract(doc, typesOf(symbol.params, code)));
  if (isTable) parts.push(...membersTable(symbol));
  parts.push(...events.flatMap((event) => eventSection(symbol, event)));
  for (const example of doc?.examples ?? []) parts.push(fence(example));
  if (kind === 'class') parts.push(...methods(name, members));
  parts.push(footer(symbol));
  return parts.join('\n\n');
}

/** An event of a client: what it means, and its fields. */
function eventSection(owner: PublicName, members: readonly Member[]): string[] {
  const { type, doc } = members.find(({ name }) => name === 'type')!;
  const fields = members.filter(({ name }) => name !== 'type');
  const about = doc === undefined ? [] : [linked(doc.text)];
  return [`### Event ${type}`, ...about, ...membersTable({ ...owner, members: fields })];
}

/** The constructor, the fields and the methods of a class. */
function methods(owner: string, members: readonly Member[]): string[] {
  const fields = members.filter(({ kind }) => kind === 'field' || kind === 'getter');
  const rows = fields.map(
    ({ name, type, doc }) => `| \`${name}\` | ${shownType(type)} | ${cell(linked(doc?.text ?? ''))} |`,
  );
  const parts: string[] = [];
  const own = members.find(({ kind }) => kind === 'constructor');
  // Users cannot construct a class that is only exported as a type.
  if (own !== undefined && owner !== 'Transport' && owner !== 'Client') {
    parts.push(fence(`new ${owner}${own.signature.slice('constructor'.length)}`));
    if (own.doc?.text) parts.push(linked(own.doc.text));
    parts.push(...contract(own.doc, typesOf(own.params, own.signature)));
  }
  if (rows.length > 0)
    parts.push(['| Field, read only | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n'));
  for (const { kind, name, signature, params, doc } of members) {
    if (kind !== 'method') continue;
    parts.push(`### ${owner}.${name.replace(/^\[(.*)\]$/, '$1')}`, fence(signature));
    if (doc?.text) parts.push(linked(doc.text));
    parts.push(...contract(doc, typesOf(params, signature)));
  }
  return parts;
}

const NOTE = '<!-- written by tools/api.ts: npm run docs -->';

function areaPage(page: string): string {
  const { title, introduction } = AREAS[page]!;
  const symbols = namesOf(page);
  const list = symbols.map((symbol) => [
    linkTo(headingOf(symbol)).replace(`${page}.md`, ''),
    cell(firstSentence(symbol.doc)),
  ]);
  return (
    [`# ${title}`, introduction, NOTE, table(['Name', ''], list), ...symbols.map(section)]
      .join('\n\n')
      .split(`](${page}.md#`)
      .join('](#') + '\n'
  );
}

/** The first sentence; up to a colon if it is long enough without the rest. */
function firstSentence(doc: Doc | undefined): string {
  const [paragraph = ''] = linked(doc?.text ?? '').split('\n\n');
  const sentence = /^.*?\.(?=\s|$)/s.exec(oneLine(paragraph))?.[0] ?? oneLine(paragraph);
  const [start = ''] = sentence.split(/:(?=\s|$)/);
  return start.split(' ').length > 3 && start !== sentence ? `${start}.` : sentence.replace(/:$/, '.');
}

function indexPage(): string {
  const areas = Object.entries(AREAS).map(([page, { title, introduction }]) => {
    return [`[${title}](${page}.md)`, cell(introduction.split('. ')[0]!.replace(/\.$/, ''))];
  });
  const names = NAMES.filter(({ entry }) => entry !== '')
    .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
    .map((symbol) => {
      const { kind, entry, doc } = symbol;
      const from = entry === 'hub-protocol' ? '' : `\`${entry}\``;
      return [linkTo(headingOf(symbol)), kind, from, cell(firstSentence(doc))];
    });
  return `${[
    '# API reference',
    'Everything that the packages export, from its docstrings. Lengths are in bytes unless a page says otherwise; times are in ' +
      'milliseconds; in the core, nothing is asynchronous. The examples run as tests.',
    NOTE,
    table(['Page', ''], areas),
    '## All names',
    'Import a name from `hub-protocol` unless the third column says otherwise.',
    table(['Name', '', 'From', ''], names),
  ].join('\n\n')}\n`;
}

export function apiPages(): Drawn {
  const pages = {
    README: indexPage(),
    ...Object.fromEntries(Object.keys(AREAS).map((page) => [page, areaPage(page)])),
  };
  return Object.fromEntries(
    Object.entries(pages).map(([page, text]) => [`docs/reference/api/${page}.md`, text]),
  );
}
