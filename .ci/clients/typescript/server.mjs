// A server under test: started over stdio by a client's own transport, or here over HTTP. Either way its log is read, so
// that a check can wait for what the server says instead of for time to pass.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const patience = 20_000; // ms; the longest demo run takes 3 s

// Log collects a server's standard error and lets checks wait for lines.
export class Log {
  lines = [];
  #wake = new Set();

  feed(stream) {
    createInterface({ input: stream }).on('line', (line) => {
      this.lines.push(line);
      for (const look of this.#wake) look();
    });
    return this;
  }

  // line resolves to the match of the first line, already written or to come, that fits.
  line(pattern) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.map((l) => pattern.exec(l)).find(Boolean);
        if (!found) return;
        this.#wake.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#wake.delete(look);
        reject(new Error(`no line ${pattern} in the log:\n${this.lines.join('\n')}`));
      }, patience);
      this.#wake.add(look);
      look();
    });
  }
}

// serveHTTP starts a server on a free port. stop ends it by SIGTERM and fails unless it then ends well.
export async function serveHTTP(binary, config, flags = []) {
  const child = spawn(binary, ['--config', config, 'serve', '--http', '127.0.0.1:0', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const abandon = () => child.kill('SIGKILL'); // where a check fails
  process.once('exit', abandon);
  const log = new Log().feed(child.stderr);
  const [, address] = await log.line(/ serving .*address=(\S+)/);
  return {
    log,
    url: `http://${address}/mcp`,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      process.off('exit', abandon);
      if (code !== 0) throw new Error(`the server ended with exit code ${code}:\n${log.lines.join('\n')}`);
    },
  };
}
