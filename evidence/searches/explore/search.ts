/**
 * Explores a scenario breadth-first: all that can follow from it by itself, by chance, and by up to so many acts of an attacker,
 * in any order. Worlds with the same description are one state.
 */
import { type Act, attacks, freeActs } from './acts.ts';
import { hashOf } from './copy.ts';
import { describe } from './describe.ts';
import { SCENARIOS } from './scenarios.ts';
import { World } from './world.ts';

/** How many worlds with a connection are kept; each takes some 10 KB. */
const SPARE = 20_000;

/** What a search has found. */
export interface Found {
  readonly scenario: string;
  /** The number of states that were first reached with 0, 1, 2, … acts of an attacker. */
  readonly states: number[];
  /** How many of them were explored: all that can happen in them has been tried. */
  readonly explored: number[];
  readonly transitions: number;
  /** The most steps from the beginning to a state that was explored. */
  readonly depth: number;
  /** The most that it takes, if nobody interferes any more, until both sides are connected: steps, and questions to a person. */
  readonly longest: number;
  readonly asks: number;
  /** What was asked, by error code, in states that were explored. */
  readonly questions: ReadonlySet<string>;
  readonly violation?: string;
}

/** The states of a search, by index. */
class States {
  readonly parent: number[] = [];
  readonly act: string[] = [];
  readonly depth: number[] = [];
  /** What follows if nobody interferes; -1 while that is not known, -2 in a state that is the goal. */
  readonly next: number[] = [];
  readonly asks: boolean[] = [];
  readonly #indices: Map<number, number>[] = Array.from({ length: 16 }, () => new Map());
  readonly #names = new Map<string, string>();

  /** The index of a state, and whether it is new. */
  add(world: World, parent: number, act: string, description: string): { index: number; isNew: boolean } {
    const key = hashOf(description);
    const indices = this.#indices[key % 16]!; // since a Map cannot hold more than 16 million
    const known = indices.get(key);
    if (known !== undefined) return { index: known, isNew: false };
    const index = this.parent.length;
    indices.set(key, index);
    if (!this.#names.has(act)) this.#names.set(act, act);
    this.parent.push(parent);
    this.act.push(this.#names.get(act)!);
    this.depth.push(parent < 0 ? 0 : this.depth[parent]! + 1);
    this.next.push(world.isConnected ? -2 : -1);
    this.asks.push(world.asked !== undefined);
    return { index, isNew: true };
  }

  /** How a state was reached. */
  path(index: number): string[] {
    const acts: string[] = [];
    for (let at = index; at > 0; at = this.parent[at]!) acts.push(this.act[at]!);
    return acts.reverse();
  }
}

/**
 * Explores a scenario.
 * @param acts - how many acts of an attacker
 * @param until - when to give up, in milliseconds since 1970
 */
export function explore(name: string, acts: number, until: number): Found {
  const states = new States();
  const counts: number[] = [];
  const explored: number[] = [];
  const questions = new Set<string>();
  let transitions = 0;
  let depth = 0;
  const root = new World(SCENARIOS.find((scenario) => scenario.name === name)!);
  states.add(root, -1, '', describe(root, acts > 0));
  /** The first world and those without a connection, from which all others can be made again, and some others, to save time. */
  const worlds = new Map<number, World>([[0, root]]);
  let spare = SPARE;
  const found = (violation?: string): Found => {
    const live = violation === undefined ? liveness(states) : { longest: 0, asks: 0 };
    const result = {
      scenario: name,
      states: counts,
      explored,
      transitions,
      depth,
      questions,
      ...live,
    };
    return violation === undefined ? result : { ...result, violation };
  };
  const finish = (): Found => {
    try {
      return found();
    } catch (error) {
      return found(`${name}: ${(error as Error).message}`);
    }
  };

  /** Tries acts in a state. Returns what broke, or nothing. New states are appended to a list. */
  const attempt = (index: number, world: World, acts: readonly Act[], isWatched: boolean, list: number[]) => {
    for (const [act, happens] of acts) {
      const after = world.copy();
      try {
        happens(after);
        if (transitions % 61 === 0) after.checkRepetition();
      } catch (error) {
        const path = [...states.path(index), act].join('\n  ');
        return `${name}: ${(error as Error).message}\n  ${path}\n${(error as Error).stack ?? ''}`;
      }
      transitions++;
      const { index: next, isNew } = states.add(after, index, act, describe(after, isWatched));
      if (states.next[index] === -1) states.next[index] = next; // the first free act is the honest course
      if (!isNew) continue;
      if (after.connection === undefined) worlds.set(next, after);
      else if (spare > 0) {
        spare--;
        worlds.set(next, after);
      }
      list.push(next);
    }
    return undefined;
  };

  // What takes no act comes first, so that each state is first reached with the fewest acts.
  let layer = [0];
  for (let used = 0; used <= acts; used++) {
    const later: number[] = [];
    explored[used] = 0;
    for (const step of used < acts ? [freeActs, attacks] : [freeActs]) {
      const isLast = step === attacks || used === acts;
      const isWatched = (step === attacks ? used + 1 : used) < acts;
      for (let i = 0; i < layer.length; i++) {
        counts[used] = layer.length;
        if (i % 64 === 0 && Date.now() > until) return finish();
        const index = layer[i]!;
        const world = worldOf(states, worlds, index);
        if (world.asked !== undefined) questions.add(world.asked);
        const broken = attempt(index, world, step(world), isWatched, step === attacks ? later : layer);
        if (broken !== undefined) return found(broken);
        if (!isLast) continue;
        if (index > 0 && world.connection !== undefined && worlds.delete(index)) spare++;
        explored[used]!++;
        depth = Math.max(depth, states.depth[index]!);
      }
    }
    counts[used] = layer.length;
    layer = later;
  }
  return finish();
}

/** Makes the world of a state: from the last one without a connection, by doing again what was done since. */
function worldOf(states: States, worlds: ReadonlyMap<number, World>, index: number): World {
  const names: string[] = [];
  let at = index;
  for (; !worlds.has(at); at = states.parent[at]!) names.push(states.act[at]!);
  const world = worlds.get(at)!.copy();
  for (const name of names.reverse()) {
    const isIt = ([own]: Act): boolean => own === name;
    const act = freeActs(world).find(isIt) ?? attacks(world).find(isIt);
    if (act === undefined) throw new Error(`nothing is called ${name}`);
    act[1](world);
  }
  return world;
}

/** From every state that was explored, the honest course ends in the goal. Throws if one goes in circles. */
function liveness(states: States): { longest: number; asks: number } {
  const { next, asks } = states;
  const steps = new Int32Array(next.length).fill(-1);
  const questions = new Int32Array(next.length);
  let [longest, most] = [0, 0];
  for (let start = 0; start < next.length; start++) {
    const course: number[] = [];
    let at = start;
    while (at >= 0 && steps[at] === -1) {
      steps[at] = -2; // on this course
      course.push(at);
      at = next[at]!;
    }
    if (at >= 0 && steps[at] === -2)
      throw new Error(`stranded: never connected after\n  ${states.path(at).join('\n  ')}`);
    for (const state of course.reverse()) {
      const after = next[state]!;
      steps[state] = after < 0 ? 0 : steps[after]! + 1;
      questions[state] =
        (after < 0 ? 0 : questions[after]!) + (asks[state] && !(after >= 0 && asks[after]) ? 1 : 0);
      longest = Math.max(longest, steps[state]!);
      most = Math.max(most, questions[state]!);
    }
  }
  return { longest, asks: most };
}
