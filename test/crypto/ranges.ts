/**
 * Runs functions of a source file on all inputs: each number is a range, that is all multiples of a power of two between two
 * bounds, which are computed exactly. A run throws where a double would round, where a bitwise operator would cut off bits, and
 * where a branch or an index depends on what is not known. So a run to the end is a proof that none of this happens.
 *
 * The exception is a carry, `c = h + R - R`, where R is such that the first sum is rounded to a multiple of a known power of two.
 * Then h - c is at most half of this power.
 *
 * Each number also has a residue modulo a prime. That of an unknown number is random, and that of what was rounded is a new one.
 * So if a sum of products has the right residue, the formula is right, but for a chance of some 2^-250.
 */
import { randomBytes } from 'node:crypto';
import type { AnyNode, Function as FunctionNode } from 'acorn';
import { transformSync } from 'esbuild';
import { parseModule } from '../../tools/syntax.ts';

/** The bounds are whole numbers of 2^-SCALE. */
const SCALE = 700n;

export interface Range {
  readonly low: bigint;
  readonly high: bigint;
  /** All numbers are multiples of 2^step. */
  readonly step: number;
  readonly residue: bigint;
  /** What this is when it is rounded to a multiple of 2^unit, after `added` was added to it. */
  readonly rounded?: { readonly from: Range; readonly added: bigint; readonly unit: number };
}

/** An array, or a part of one. */
export class Cells {
  readonly cells: Range[];
  readonly start: number;
  readonly length: number;
  readonly isBytes: boolean;

  constructor(cells: Range[], isBytes: boolean, start = 0, length: number = cells.length) {
    this.cells = cells;
    this.start = start;
    this.length = length;
    this.isBytes = isBytes;
  }

  all(): Range[] {
    return this.cells.slice(this.start, this.start + this.length);
  }

  fill(value: Range): void {
    this.cells.fill(value, this.start, this.start + this.length);
  }

  become(values: readonly Range[]): void {
    this.cells.splice(this.start, this.length, ...values);
  }
}

type Value = Range | Cells | Closure | undefined;

interface Closure {
  readonly node: FunctionNode;
}

/** Thrown at the end of a function by `return`. */
class Returned {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

type Scope = Map<string, Value>;

const shifted = (x: bigint, by: number): bigint => (by >= 0 ? x << BigInt(by) : x >> BigInt(-by));
const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);
/** 2^exponent, in the units of a bound. */
const power = (exponent: number): bigint => 1n << (SCALE + BigInt(exponent));
const showRange = ({ low, high, step }: Range): string => `${low.toString(16)} ${high.toString(16)} ${step}`;
const isPoint = ({ low, high }: Range): boolean => low === high;

/** How often 2 divides a bound, as an exponent. */
function stepOf(bound: bigint): number {
  if (bound === 0n) return 1000; // zero is a multiple of everything
  const lowest = bound & -bound;
  return lowest.toString(2).length - 1 - Number(SCALE);
}

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let x = base, n = exponent; n > 0n; n >>= 1n, x = (x * x) % modulus) {
    if (n & 1n) result = (result * x) % modulus;
  }
  return result;
}

const randomBelow = (modulus: bigint): bigint => BigInt(`0x${randomBytes(48).toString('hex')}`) % modulus;

export class Machine {
  /** The largest number in units of its own step. Below 2^53, it is exact in a double. */
  largest = 0n;
  private readonly modulus: bigint;
  /** 2^-SCALE modulo the prime. */
  private readonly unit: bigint;
  private readonly pure: readonly string[];
  private readonly globals: Scope = new Map();
  /** The results of `pure` functions, by their arguments. */
  private readonly seen = new Map<string, Range[][]>();

  /**
   * Runs what is at the top of a file.
   * @param source - of one file, or of several one after the other
   * @param pure - functions whose results are kept, and used again for the same arguments: they write to arguments alone
   * @param imported - constants of other files
   */
  constructor(
    source: string,
    modulus: bigint,
    pure: readonly string[],
    imported: { readonly [name: string]: number },
  ) {
    this.modulus = modulus;
    this.unit = powerModulo(2n, modulus - 1n - SCALE, modulus);
    this.pure = pure;
    for (const [name, value] of Object.entries(imported)) this.globals.set(name, this.point(BigInt(value)));
    const { code } = transformSync(source.replace(/^import .*;$/gm, ''), { loader: 'ts', target: 'es2020' });
    const tree = parseModule(code) as AnyNode & { body: AnyNode[] };
    for (const node of tree.body) {
      const statement = node.type === 'ExportNamedDeclaration' ? (node.declaration ?? node) : node;
      if (statement.type === 'ExportNamedDeclaration') continue; // a list of what is declared elsewhere
      this.run(statement, this.globals);
    }
  }

  /** A number that is known. */
  point(value: bigint): Range {
    return this.exactly(value << SCALE);
  }

  /** A number of which only the bounds and the step are known, in units of 2^step. */
  unknown(low: bigint, high: bigint, step = 0): Range {
    return {
      low: shifted(low << SCALE, step),
      high: shifted(high << SCALE, step),
      step,
      residue: randomBelow(this.modulus),
    };
  }

  /** Any bytes. */
  bytes(length: number): Cells {
    return new Cells(
      Array.from({ length }, () => this.unknown(0n, 255n)),
      true,
    );
  }

  /** The sum of all residues. */
  sum(values: Cells): bigint {
    return values.all().reduce((sum, { residue }) => sum + residue, 0n) % this.modulus;
  }

  /** A global array. */
  array(name: string): Cells {
    return this.globals.get(name) as Cells;
  }

  call(name: string, ...values: Value[]): Value {
    if (!this.pure.includes(name)) return this.invoke(this.globals.get(name) as Closure, values);
    const arrays = values.filter((value): value is Cells => value instanceof Cells);
    const shown = values.map((value) => {
      if (!(value instanceof Cells)) return showRange(value as Range);
      const first = arrays.findIndex(({ cells, start }) => cells === value.cells && start === value.start);
      return `${first}: ${value.all().map(showRange)}`;
    });
    const key = [name, ...shown].join();
    const known = this.seen.get(key);
    if (known !== undefined) {
      for (const [i, array] of arrays.entries()) array.become(known[i]!);
      return undefined;
    }
    if (name === 'cswap' && !isPoint(values[0] as Range)) this.bothCases(name, values[0] as Range, arrays);
    else this.invoke(this.globals.get(name) as Closure, values);
    this.seen.set(
      key,
      arrays.map((array) => array.all()),
    );
    return undefined;
  }

  /** Calls a function for 0 and for 1, and joins what it writes. */
  private bothCases(name: string, { low, high }: Range, arrays: readonly Cells[]): void {
    if (low !== 0n || high !== 1n << SCALE) throw new Error(`${name} is called with more than a bit`);
    const before = arrays.map((array) => array.all());
    this.call(name, this.point(0n), ...arrays);
    const after = arrays.map((array) => array.all());
    for (const [i, array] of arrays.entries()) array.become(before[i]!);
    this.call(name, this.point(1n), ...arrays);
    for (const [i, array] of arrays.entries()) {
      array.become(array.all().map((one, j) => this.either(one, after[i]![j]!)));
    }
  }

  private either(one: Range, other: Range): Range {
    return {
      low: one.low < other.low ? one.low : other.low,
      high: one.high > other.high ? one.high : other.high,
      step: Math.min(one.step, other.step),
      residue: randomBelow(this.modulus),
    };
  }

  private invoke({ node }: Closure, values: Value[]): Value {
    const scope: Scope = new Map(this.globals);
    for (const [i, parameter] of node.params.entries()) {
      if (parameter.type !== 'Identifier') throw new Error(`unknown: a parameter ${parameter.type}`);
      scope.set(parameter.name, values[i]);
    }
    if (node.body.type !== 'BlockStatement') return this.evaluate(node.body, scope);
    try {
      this.run(node.body, scope);
    } catch (thrown) {
      if (thrown instanceof Returned) return thrown.value;
      throw thrown;
    }
    return undefined;
  }

  private run(node: AnyNode, scope: Scope): void {
    switch (node.type) {
      case 'FunctionDeclaration':
        scope.set(node.id!.name, { node });
        return;
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations) {
          if (id.type !== 'Identifier') throw new Error(`unknown: a variable ${id.type}`);
          scope.set(id.name, init ? this.evaluate(init, scope) : undefined);
        }
        return;
      case 'BlockStatement':
        for (const statement of node.body) this.run(statement, scope);
        return;
      case 'ExpressionStatement':
        this.evaluate(node.expression, scope);
        return;
      case 'IfStatement':
        if (this.isTrue(node.test, scope)) this.run(node.consequent, scope);
        return;
      case 'ReturnStatement':
        throw new Returned(node.argument ? this.evaluate(node.argument, scope) : undefined);
      case 'ForStatement':
        if (node.init?.type === 'VariableDeclaration') this.run(node.init, scope);
        else if (node.init) this.evaluate(node.init, scope);
        while (this.isTrue(node.test!, scope)) {
          this.run(node.body, scope);
          this.evaluate(node.update!, scope);
        }
        return;
      default:
        throw new Error(`unknown: ${node.type}`);
    }
  }

  private evaluate(node: AnyNode, scope: Scope): Value {
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'number' ? this.point(BigInt(node.value)) : undefined;
      case 'Identifier':
        return scope.get(node.name);
      case 'ArrowFunctionExpression':
        return { node };
      case 'ObjectExpression':
        return undefined;
      case 'ArrayExpression':
        return new Cells(
          node.elements.map((element) => this.number(element!, scope)),
          false,
        );
      case 'UnaryExpression':
        return this.binary('-', this.point(0n), this.number(node.argument, scope));
      case 'BinaryExpression':
        return this.binary(
          node.operator,
          this.number(node.left as AnyNode, scope),
          this.number(node.right, scope),
        );
      case 'ConditionalExpression':
        return this.evaluate(this.isTrue(node.test, scope) ? node.consequent : node.alternate, scope);
      case 'MemberExpression': {
        const array = this.evaluate(node.object, scope) as Cells;
        if (!node.computed) return this.point(BigInt(array.length)); // .length
        // A copy, since two arrays may hold one result of `pure` for two numbers.
        return { ...array.cells[this.index(array, node.property, scope)]! };
      }
      case 'UpdateExpression':
      case 'AssignmentExpression':
        return this.assign(node, scope);
      case 'NewExpression':
        return this.allocate(node.callee, this.constant(lengthOf(node.arguments[0]!), scope));
      case 'CallExpression':
        return this.callExpression(node.callee, node.arguments, scope);
      default:
        throw new Error(`unknown: ${node.type}`);
    }
  }

  private allocate(callee: AnyNode, length: number): Cells {
    const isBytes = callee.type === 'Identifier' && callee.name === 'Uint8Array';
    return new Cells(
      Array.from({ length }, () => this.point(0n)),
      isBytes,
    );
  }

  private assign(node: AnyNode & { type: 'UpdateExpression' | 'AssignmentExpression' }, scope: Scope): Value {
    const target = node.type === 'UpdateExpression' ? node.argument : node.left;
    const operator = node.operator === '++' ? '+' : node.operator === '--' ? '-' : node.operator.slice(0, -1);
    const right = node.type === 'UpdateExpression' ? this.point(1n) : this.evaluate(node.right, scope);
    if (target.type === 'Identifier') {
      const before = scope.get(target.name) as Range;
      const after = operator === '' ? right : this.binary(operator, before, right as Range);
      scope.set(target.name, after);
      return node.type === 'UpdateExpression' && !node.prefix ? before : after;
    }
    if (target.type !== 'MemberExpression') throw new Error(`unknown: an assignment to ${target.type}`);
    const array = this.evaluate(target.object, scope) as Cells;
    const index = this.index(array, target.property, scope);
    const after =
      operator === '' ? (right as Range) : this.binary(operator, array.cells[index]!, right as Range);
    array.cells[index] = array.isBytes ? this.byte(after) : after;
    return after;
  }

  private callExpression(callee: AnyNode, nodes: readonly AnyNode[], scope: Scope): Value {
    const values = nodes.map((node) => this.evaluate(node, scope));
    if (callee.type === 'Identifier') {
      if (this.globals.has(callee.name)) return this.call(callee.name, ...values);
      const [array] = values as [Cells];
      if (callee.name === 'copyBytes') return new Cells(array.all(), true);
      if (callee.name === 'clear') return void array.fill(this.point(0n));
      if (callee.name === 'wipe') return undefined;
      if (callee.name === 'wordAt') return this.word32(array.all().slice(this.known(values[1] as Range)));
    }
    if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') {
      throw new Error(`unknown: a call of ${callee.type}`);
    }
    const { name } = callee.property;
    const array = this.evaluate(callee.object, scope) as Cells;
    const { cells, start } = array;
    switch (name) {
      case 'set':
        cells.splice(start, (values[0] as Cells).length, ...(values[0] as Cells).all());
        return undefined;
      case 'map':
        return new Cells(
          array.all().map((cell) => this.invoke(values[0] as Closure, [cell]) as Range),
          false,
        );
      case 'subarray': {
        const [from, to] = (values as Range[]).map((value) => this.known(value));
        return new Cells(cells, array.isBytes, start + from!, to! - from!);
      }
      default:
        throw new Error(`unknown: .${name}()`);
    }
  }

  private number(node: AnyNode, scope: Scope): Range {
    const value = this.evaluate(node, scope);
    if (value === undefined || !('low' in value)) throw new Error('a number is missing');
    return value;
  }

  /** The value of a number that is known, and whole. */
  private known(value: Range): number {
    if (!isPoint(value)) throw new Error('an index depends on what is not known');
    return Number(value.low >> SCALE);
  }

  private constant(node: AnyNode, scope: Scope): number {
    return this.known(this.number(node, scope));
  }

  private index(array: Cells, node: AnyNode, scope: Scope): number {
    const index = this.constant(node, scope);
    if (index < 0 || index >= array.length) throw new Error(`the index ${index} is out of bounds`);
    return array.start + index;
  }

  private isTrue(node: AnyNode, scope: Scope): boolean {
    if (node.type !== 'BinaryExpression') throw new Error(`unknown: the condition ${node.type}`);
    const [left, right] = [this.number(node.left as AnyNode, scope), this.number(node.right, scope)];
    if (!isPoint(left) || !isPoint(right)) throw new Error('a branch depends on what is not known');
    if (node.operator === '===') return left.low === right.low;
    if (node.operator === '<') return left.low < right.low;
    if (node.operator === '>=') return left.low >= right.low;
    throw new Error(`unknown: the condition ${node.operator}`);
  }

  private exactly(bound: bigint): Range {
    const residue = (((bound * this.unit) % this.modulus) + this.modulus) % this.modulus;
    return { low: bound, high: bound, step: stepOf(bound), residue };
  }

  private binary(operator: string, left: Range, right: Range): Range {
    switch (operator) {
      case '+':
      case '-':
        return this.plus(left, right, operator === '-');
      case '*':
        return this.times(left, right);
      case '/':
        return this.times(left, this.inverse(right));
      default:
        return this.bitwise(operator, left, right);
    }
  }

  /** Throws if a double would round. */
  private exact(low: bigint, high: bigint, step: number, residue: bigint): Range {
    if (low === high) return this.checked(this.exactly(low));
    const { modulus } = this;
    return this.checked({ low, high, step, residue: ((residue % modulus) + modulus) % modulus });
  }

  private checked(range: Range): Range {
    const { low, high, step } = range;
    const larger = magnitude(low) > magnitude(high) ? magnitude(low) : magnitude(high);
    const units = larger === 0n ? 0n : shifted(larger, -step) >> SCALE;
    if (units >= 1n << 53n) throw new Error(`a number of 2^${units.toString(2).length - 1} steps is rounded`);
    if (units > this.largest) this.largest = units;
    return range;
  }

  private plus(left: Range, right: Range, isMinus: boolean): Range {
    const [low, high] = isMinus
      ? [left.low - right.high, left.high - right.low]
      : [left.low + right.low, left.high + right.high];
    const residue = isMinus ? left.residue - right.residue : left.residue + right.residue;
    const step = Math.min(left.step, right.step);
    if (isMinus && left.rounded?.added === right.low && isPoint(right) && left.rounded.unit <= right.step) {
      // The second half of a carry.
      return { ...this.exact(low, high, left.step, residue), rounded: { ...left.rounded, added: 0n } };
    }
    if (isMinus && right.rounded?.from === left && right.rounded.added === 0n) {
      // What a carry leaves.
      const half = power(right.rounded.unit - 1);
      const [least, most] = [low > -half ? low : -half, high < half ? high : half];
      return this.exact(least, most, step, residue);
    }
    if (!isMinus && isPoint(right) && low > 0n) {
      // The first half of a carry: the sum lies between two powers of two, between which doubles are multiples of 2^unit.
      const unit = low.toString(2).length - 1 - Number(SCALE) - 52;
      if (unit > step && high <= power(unit + 53)) {
        const mask = power(unit) - 1n;
        const rounded = { from: left, added: right.low, unit };
        return {
          low: low & ~mask,
          high: (high + mask) & ~mask,
          step: unit,
          residue: randomBelow(this.modulus),
          rounded,
        };
      }
    }
    return this.exact(low, high, step, residue);
  }

  private times(left: Range, right: Range): Range {
    const products = [left.low, left.high].flatMap((x) => [right.low, right.high].map((y) => x * y));
    const [low, high] = products.reduce(
      ([least, most], x) => [x < least! ? x : least!, x > most! ? x : most!],
      [products[0]!, products[0]!],
    );
    const step = left.step + right.step;
    if (step < -SCALE) throw new Error('a product is too small for these bounds');
    return this.exact(low! >> SCALE, high! >> SCALE, step, left.residue * right.residue);
  }

  private inverse(divisor: Range): Range {
    if (!isPoint(divisor) || divisor.low !== power(divisor.step)) {
      throw new Error('a divisor is no power of two');
    }
    return this.exactly(power(-divisor.step));
  }

  private bitwise(operator: string, left: Range, right: Range): Range {
    const [a, b] = [this.word(left), this.word(right)];
    const isKnown = isPoint(left) && isPoint(right);
    const by = b.low;
    switch (operator) {
      case '<<':
      case '>>':
      case '>>>': {
        if (!isPoint(right)) throw new Error('a shift depends on what is not known');
        if (operator === '>>>' && isKnown) return this.point(BigInt.asUintN(32, a.low) >> by);
        if (operator === '>>>' && a.low < 0n) return this.whole(0n, 0xffffffffn >> by);
        const [low, high] = operator === '<<' ? [a.low << by, a.high << by] : [a.low >> by, a.high >> by];
        return this.whole(low, high);
      }
      case '&':
        if (isKnown) return this.point(a.low & by);
        if (!isPoint(right) || by < 0n) throw new Error('a mask is not known, or negative');
        if (a.low >= 0n && a.high <= by && (by & (by + 1n)) === 0n) return left;
        return this.whole(0n, by);
      case '|':
        if (isKnown) return this.point(a.low | by);
        if (a.low < 0n || by < 0n) throw new Error('| of a negative number');
        return this.whole(0n, a.high + b.high);
      case '^':
        if (isKnown) return this.point(a.low ^ by);
        if (a.low < 0n || a.high > 1n || b.low < 0n || b.high > 1n) throw new Error('^ of more than bits');
        return this.whole(0n, 1n);
      default:
        throw new Error(`unknown: ${operator}`);
    }
  }

  private whole(low: bigint, high: bigint): Range {
    const range = low === high ? this.point(low) : this.unknown(low, high);
    this.word(range);
    return range;
  }

  /** The bounds of a whole number, of which a bitwise operator uses every bit. */
  private word({ low, high, step }: Range): { low: bigint; high: bigint } {
    if (step < 0) throw new Error('a fraction is cut off');
    const bounds = { low: low >> SCALE, high: high >> SCALE };
    if (bounds.low < -(1n << 31n) || bounds.high >= 1n << 31n)
      throw new Error('a number is cut off to 32 bits');
    return bounds;
  }

  /** What wordAt() in src/bytes.ts returns, a signed word. */
  private word32(cells: readonly Range[]): Range {
    const four = cells.slice(0, 4);
    if (four.length < 4 || !four.every(isPoint)) return this.unknown(-(1n << 31n), (1n << 31n) - 1n);
    const value = four.reduceRight((sum, { low }) => (sum << 8n) + (low >> SCALE), 0n);
    return this.point(BigInt.asIntN(32, value));
  }

  /** What a byte is when a number is stored in it. */
  private byte(value: Range): Range {
    const { low, high } = this.word(value);
    if (low === high) return this.point(BigInt.asUintN(8, low));
    return low >= 0n && high <= 255n ? value : this.unknown(0n, 255n);
  }
}

/** The length in `new Uint8Array(length)`, and in `new Uint8Array(new ArrayBuffer(length))`. */
function lengthOf(argument: AnyNode): AnyNode {
  return argument.type === 'NewExpression' ? argument.arguments[0]! : argument;
}
