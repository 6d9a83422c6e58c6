/**
 * A registry on loopback that has the packed packages, as if they were published, and redirects to the configured registry
 * for every other. So `npm install hub-protocol-client` does what it will do for a user, peers and dependencies included.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Packed } from '../../tools/pack.ts';

/** Some package managers do not install what was published a moment ago. */
const PUBLISHED = '2026-01-01T00:00:00.000Z';

/** Starts the registry, which does not keep the process alive. Returns its address. */
export async function startRegistry(packages: readonly Packed[]): Promise<string> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const server = createServer((request, response) => {
    const path = request.url!.slice(1);
    const found = packages.find(({ name }) => path === name || path === `${name}.tgz`);
    if (found === undefined) response.writeHead(302, { location: new URL(path, upstream).href }).end();
    else if (path.endsWith('.tgz')) response.end(readFileSync(found.path));
    else response.end(JSON.stringify(packumentOf(found, `http://${request.headers.host}/${path}.tgz`)));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** What a registry says about a package with one version. */
function packumentOf({ name, path }: Packed, tarball: string): object {
  const manifest = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' });
  const { version, ...others } = JSON.parse(manifest) as { version: string };
  const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
  return {
    name,
    'dist-tags': { latest: version },
    time: { created: PUBLISHED, modified: PUBLISHED, [version]: PUBLISHED },
    versions: { [version]: { ...others, version, dist: { tarball, integrity } } },
  };
}
