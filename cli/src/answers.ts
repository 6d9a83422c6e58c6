/** The answers of the hub of the command `hub`. */

const ANSWERS: readonly (readonly [question: RegExp, answer: () => string])[] = [
  [/\btime\b/i, () => `It is ${new Date().toTimeString().slice(0, 5)}.`],
  [/\b(?:date|day|today)\b/i, () => `Today is ${new Date().toDateString()}.`],
  [/\b(?:hello|hi|good (?:morning|evening))\b/i, () => 'Hello. Ask me what time it is.'],
  [/\b(?:who|what) are you\b/i, () => 'I am the hub of hub-protocol-cli, and I run on your machine.'],
  [/\b(?:joke|laugh)\b/i, () => 'I would tell you a UDP joke, but you might not get it.'],
  [/\bhelp\b/i, () => 'I know the time, the day and a joke. I repeat everything else.'],
];

export function answerTo(utterance: string): string {
  const known = ANSWERS.find(([question]) => question.test(utterance));
  return known === undefined ? `You said: ${utterance}` : known[1]();
}
