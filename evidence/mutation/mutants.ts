/**
 * The mutants of a module: small changes, each of which a test should notice. All of them are compiled into one module,
 * behind a switch, so that trying a mutant takes as long as its tests, and nothing is compiled again.
 */
import { SourceMap } from 'node:module';
import type { AnyNode } from 'acorn';
import { transformSync } from 'esbuild';
import { isFunction, parseModule } from '../../tools/syntax.ts';

export interface Mutant {
  /** Counted from 0 over all files. */
  readonly id: number;
  readonly file: string;
  /** In the source, from 1. */
  readonly line: number;
  readonly column: number;
  /** The line, without the white space around it: it tells equal code in several places apart. */
  readonly source: string;
  readonly kind: string;
  /** The code, as the compiler prints it, before and after. */
  readonly before: string;
  readonly after: string;
  /** True if the code runs once, when the module is loaded: a switch cannot reach it. */
  readonly isStatic: boolean;
}

export interface Mutated {
  readonly mutants: readonly Mutant[];
  /** The module with all mutants in it, where `$m(id)` tells whether a mutant is on, and `$tick()` counts rounds of loops. */
  readonly code: string;
}

/** The other operators that take an operator’s place. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  ...{
    '<': ['<=', '>='],
    '<=': ['<', '>'],
    '>': ['>=', '<='],
    '>=': ['>', '<'],
    '===': ['!=='],
    '!==': ['==='],
  },
  ...{ '+': ['-'], '-': ['+'], '*': ['+'], '/': ['*'], '%': ['*'], '&': ['|'], '|': ['&'], '^': ['&'] },
  ...{ '<<': ['>>>'], '>>>': ['<<'], '>>': ['<<'], '&&': ['||'], '||': ['&&'], '??': ['&&'] },
  ...{
    '+=': ['-='],
    '-=': ['+='],
    '|=': ['&='],
    '&=': ['|='],
    '^=': ['|='],
    '*=': ['+='],
    '>>>=': ['<<='],
    '<<=': ['>>>='],
  },
};

/** Reads a module of `src/`, and finds its mutants. */
export function mutated(file: string, source: string, firstId: number): Mutated {
  const { code, map } = transformSync(source, {
    loader: 'ts',
    target: 'es2022',
    sourcemap: true,
    sourcefile: file,
  });
  const positions = new SourceMap(JSON.parse(map));
  const lines = code.split('\n').map((line) => line.length + 1);
  const sourceLines = source.split('\n');
  const mutants: Mutant[] = [];
  let depth = 0;

  const place = (offset: number): { line: number; column: number } => {
    let row = 0;
    for (; offset >= lines[row]!; row++) offset -= lines[row]!;
    const entry = positions.findEntry(row, offset) as { originalLine: number; originalColumn: number };
    return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  };
  const add = (node: AnyNode, kind: string, after: string): number => {
    const id = firstId + mutants.length;
    const before = code.slice(node.start, node.end);
    const position = place(node.start);
    const line = sourceLines[position.line - 1]!.trim();
    mutants.push({ id, file, ...position, source: line, kind, before, after, isStatic: depth === 0 });
    return id;
  };

  /** The code of a node, with the mutants of all nodes in it. */
  const render = (node: AnyNode, role: Role): string => {
    const runsLater = isFunction(node) || (node.type === 'PropertyDefinition' && !node.static);
    if (runsLater) depth++;
    let text = '';
    let at = node.start;
    for (const [child, childsRole] of childrenOf(node)) {
      text += code.slice(at, child.start) + render(child, childsRole);
      at = child.end;
    }
    text = switched(node, role, text + code.slice(at, node.end));
    if (runsLater) depth--;
    return text;
  };
  const switched = (node: AnyNode, role: Role, text: string): string => {
    if (role === 'rounds') return `{$tick();${text}}`;
    if (role === 'function' && node.type === 'BlockStatement') {
      return node.body.length === 0 ? text : `{if($m(${add(node, 'removed', '{}')}))return;${text.slice(1)}`;
    }
    if (isCall(node)) return `{if(!$m(${add(node, 'removed', '')})){${text}}}`;
    const others = role === 'condition' ? CONSTANTS : changes(node, code);
    const choices = others.map(({ kind, after }) => `$m(${add(node, kind, after)})?${after}:`);
    if (role === 'condition') return `(${choices.join('')}${switched(node, 'value', text)})`;
    return choices.length === 0 ? text : `(${choices.join('')}(${text}))`;
  };
  return { code: render(parseModule(code), 'value'), mutants };
}

/** Where a node stands. */
type Role = 'value' | 'condition' | 'function' | 'rounds';

const CONSTANTS = [
  { kind: 'always', after: 'true' },
  { kind: 'never', after: 'false' },
];

/** Whether a statement only calls or assigns something. */
function isCall(node: AnyNode): boolean {
  if (node.type !== 'ExpressionStatement') return false;
  const { expression } = node;
  if (expression.type === 'CallExpression') return expression.callee.type !== 'Super';
  return expression.type === 'AssignmentExpression';
}

/** What is in a node and may be changed, in the order of the code. */
function childrenOf(node: AnyNode): [AnyNode, Role][] {
  const children: [AnyNode, Role][] = [];
  for (const [key, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string' && !isFixed(node, key, child))
        children.push([child, roleOf(node, key)]);
    }
  }
  return children.sort(([a], [b]) => a.start - b.start);
}

function roleOf(node: AnyNode, key: string): Role {
  if (key === 'test' && node.type !== 'ConditionalExpression' && node.type !== 'SwitchCase')
    return 'condition';
  if (key === 'body' && isFunction(node)) return 'function';
  return key === 'body' && /^(For|While|DoWhile)/.test(node.type) ? 'rounds' : 'value';
}

/** Whether a child is a name or a target of an assignment. */
function isFixed(node: AnyNode, key: string, child: AnyNode): boolean {
  if (node.type.startsWith('Import') || (node.type.startsWith('Export') && key !== 'declaration'))
    return true;
  if (['id', 'label', 'params', 'param', 'quasi'].includes(key) || child.type === 'Super') return true;
  if (key === 'key' || key === 'property') return !('computed' in node && node.computed);
  if (key === 'left') return node.type === 'AssignmentExpression' || /^For(In|Of)/.test(node.type);
  if (node.type === 'ChainExpression' || node.type === 'UpdateExpression')
    return node.type === 'UpdateExpression';
  return (
    (node.type === 'UnaryExpression' && ['typeof', 'void'].includes(node.operator)) ||
    (node.type === 'Property' && node.shorthand)
  );
}

/** What may take the place of an expression. */
function changes(node: AnyNode, code: string): { kind: string; after: string }[] {
  const text = (part: AnyNode): string => code.slice(part.start, part.end);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      if (node.operator === '+' && [node.left, node.right].some((side) => isText(side))) return [];
      // `| 0` and `>>> 0` only say what kind of number it is.
      if ((node.operator === '|' || node.operator === '>>>') && text(node.right) === '0') return [];
      return (OPERATORS[node.operator] ?? []).map((operator) => ({
        kind: `${node.operator} is ${operator}`,
        after: `(${text(node.left)}) ${operator} (${text(node.right)})`,
      }));
    }
    case 'AssignmentExpression':
      return (OPERATORS[node.operator] ?? []).map((operator) => ({
        kind: `${node.operator} is ${operator}`,
        after: `${text(node.left)} ${operator} ${text(node.right)}`,
      }));
    case 'UpdateExpression': {
      const operator = node.operator === '++' ? '--' : '++';
      const argument = text(node.argument);
      return [
        {
          kind: `${node.operator} is ${operator}`,
          after: node.prefix ? operator + argument : argument + operator,
        },
      ];
    }
    case 'UnaryExpression':
      return ['!', '-', '~'].includes(node.operator)
        ? [{ kind: `no ${node.operator}`, after: text(node.argument) }]
        : [];
    case 'ConditionalExpression':
      return [
        { kind: 'always the first', after: text(node.consequent) },
        { kind: 'always the second', after: text(node.alternate) },
      ];
    case 'Literal':
      if (typeof node.value === 'boolean') return [{ kind: 'other boolean', after: String(!node.value) }];
      if (typeof node.value === 'number') return [{ kind: 'other number', after: String(node.value + 1) }];
      if (typeof node.value !== 'string') return [];
      // A text with a space is for people, and no program depends on it.
      return node.value.includes(' ')
        ? []
        : [{ kind: 'other string', after: node.value === '' ? "'?'" : "''" }];
    case 'ArrayExpression':
      return node.elements.length > 0 ? [{ kind: 'empty', after: '[]' }] : [];
    default:
      return [];
  }
}

function isText(node: AnyNode): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}
