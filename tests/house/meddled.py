#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that change between any two looks of the command at them: what comes out is what the old file gives, what the
new one gives, or an error; never a mixture, never a signal. meddler.c changes them, and counts the looks."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
TAMIS = os.path.abspath(os.environ.get('TAMIS', os.path.join(ROOT, 'build', 'tamis')))
number = failed = 0


def say(name, wrong):
    global number, failed
    number += 1
    failed += bool(wrong)
    print('not ok' if wrong else 'ok', number, '-', name)
    for line in wrong[:5]:
        print('#', line)


def tamis(*args, env=None, keys=b''):
    done = subprocess.run([TAMIS, *args], input=keys, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(env or {})}, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors='replace')


def need(*args, keys=b''):
    code, _, why = tamis(*args, keys=keys)
    if code > 1:
        sys.exit(f'{args}: {why}')


def outcome(args, made, env=None):
    """Exit, output and the file that is made; an error is just that."""
    for path in made:
        if os.path.exists(path):
            os.remove(path)
    code, out, why = tamis(*args, env=env, keys=b'')
    if code == 2:
        return ('error', bool(why)), why
    return (code, out, *(open(p, 'rb').read() if os.path.exists(p) else None for p in made)), why


def meddle(name, args, file, new, made=()):
    """`file` becomes what `new` holds, before look 1, 2, ... of the command."""
    shutil.copy(file, 'kept')
    allowed = []
    for content in ('kept', new):
        shutil.copy(content, file)
        allowed.append(outcome(args, made)[0])
    wrong, at, looks = [], 0, 0
    while True:
        at += 1
        shutil.copy('kept', file)
        env = {'LD_PRELOAD': SHIM, 'MEDDLE_FILE': file, 'MEDDLE_WITH': new, 'MEDDLE_AT': str(at), 'MEDDLE_LOG': 'looks'}
        open('looks', 'w').write('0')
        got, why = outcome(args, made, env)
        looks = int(open('looks').read() or 0)
        if got not in allowed and got != ('error', True):
            wrong.append(f'changed before look {at} of {looks}: exit {got[0]}: {why.strip()[:150]}')
        if looks < at:
            break
    shutil.copy('kept', file)
    if looks == 0:
        wrong.append('nobody looked')
    say(f'{name}: {looks} looks', wrong)


def three_ways(name, args, file, other, made=()):
    """Something else, nothing, and more of the same."""
    open('empty', 'wb').close()
    open('longer', 'wb').write(open(file, 'rb').read() + b'x' * 5000)
    for how, new in (('another', other), ('cut', 'empty'), ('longer', 'longer')):
        meddle(f'{name}, {how}', args, file, new, made)


work = tempfile.mkdtemp()
SHIM = os.path.join(work, 'meddler.so')
if subprocess.run([os.environ.get('CC', 'cc').split()[0], '-shared', '-fPIC', '-O1', '-o', SHIM,
                   os.path.join(HERE, 'meddler.c'), '-ldl'], check=False).returncode:
    print('1..0 # SKIP no program that is loaded in front of another can be made')
    sys.exit(0)
os.chdir(work)


def numbers(first, last):
    return ''.join(f'{i}\n' for i in range(first, last)).encode()


open('keys', 'wb').write(numbers(1, 500))
open('others', 'wb').write(numbers(300, 900))
for name, keys in (('a', 'keys'), ('b', 'others')):
    need('build', '-q', f'{name}.tamis', keys, '--spec', 'classic:capacity=1000')
need('build', '-q', 'c.tamis', 'keys', 'others', '--spec', 'classic:capacity=1000')
need('diff', '-q', 'a.tamis', 'b.tamis', '-o', 'b.patch')
need('diff', '-q', 'a.tamis', 'c.tamis', '-o', 'c.patch')

three_ways('check', ['check', '-c', 'a.tamis', 'keys', 'others'], 'a.tamis', 'b.tamis')
three_ways('info', ['info', 'a.tamis'], 'a.tamis', 'b.tamis')
three_ways('union', ['union', '-q', 'a.tamis', 'c.tamis', '-o', 'out'], 'a.tamis', 'b.tamis', ['out'])
three_ways('diff', ['diff', '-q', 'a.tamis', 'c.tamis', '-o', 'out'], 'a.tamis', 'b.tamis', ['out'])
three_ways('apply', ['apply', '-q', 'a.tamis', 'b.patch', '-o', 'out'], 'b.patch', 'c.patch', ['out'])
three_ways('apply, the image', ['apply', '-q', 'a.tamis', 'b.patch', '-o', 'out'], 'a.tamis', 'c.tamis', ['out'])

# A patch that is signed, and one that nobody signed.
if tamis('keygen', '-q', 'k')[0] == 0:
    need('diff', '-q', 'a.tamis', 'b.tamis', '-o', 's.patch', '--sign', 'k')
    three_ways('apply --verify', ['apply', '-q', 'a.tamis', 's.patch', '-o', 'out', '--verify', 'k.pub'], 's.patch',
               'c.patch', ['out'])
    # Of the same length, with the digests of another image and no signature: what a seal says counts only as it was
    # when its signature was checked.
    for name, keys, seed in (('d', 'others', 7), ('e', 'others', 8)):
        need('build', '-q', f'{name}.tamis', keys, '--spec', f'classic:capacity=1000,seed={seed}')
    need('diff', '-q', 'a.tamis', 'd.tamis', '-o', 'd.patch', '--sign', 'k')
    need('diff', '-q', 'a.tamis', 'e.tamis', '-o', 'e.patch')
    patch = open('e.patch', 'rb').read()
    signer = bytes.fromhex(open('k.pub').read().split('\n')[1])
    digests = [hashlib.blake2b(b, digest_size=32).digest()
               for b in (open('d.patch', 'rb').read()[:-200], open('a.tamis', 'rb').read(), open('e.tamis', 'rb').read())]
    open('forged', 'wb').write(patch + b'\xd6seal\x01\x1a\n' + signer + b''.join(digests) + bytes(64))
    if os.path.getsize('forged') != os.path.getsize('d.patch'):
        sys.exit('the forged patch has another length')
    meddle('apply --verify, forged', ['apply', '-q', 'a.tamis', 'd.patch', '-o', 'out', '--verify', 'k.pub'], 'd.patch',
           'forged', ['out'])
    shutil.copy('k.pub', 'p.pub')
    need('keygen', '-q', 'l')
    three_ways('apply --verify, the key', ['apply', '-q', 'a.tamis', 's.patch', '-o', 'out', '--verify', 'p.pub'], 'p.pub',
               'l.pub', ['out'])

# Secrets.
open('one', 'w').write('00112233445566778899aabbccddeeff\n')
open('two', 'w').write('ffeeddccbbaa99887766554433221100\n')
need('build', '-q', 'x.tamis', 'keys', '--spec', 'classic:capacity=1000,hash=sip13,key=outside', '--secret-file', 'one')
three_ways('secret', ['check', '-c', 'x.tamis', 'keys', '--secret-file', 'one'], 'one', 'two')

# Lists that are read twice: for their hashes, and for the lines that differ.
shutil.copy('keys', 'list')
open('third', 'wb').write(numbers(100, 450))
meddle('reconcile', ['reconcile', 'list', 'third'], 'list', 'others')

# Files of other systems, as far as we write them.
FORMATS = [('guava', 'guava'), ('hadoop', 'hadoop'), ('spark', 'spark'), ('orc', 'orc'), ('redisbloom', 'redisbloom'),
           ('redis-dump', 'redisbloom'), ('redis-dump', 'rediscuckoo'), ('bits-and-blooms', 'bits-and-blooms'),
           ('bits-and-blooms-json', 'bits-and-blooms'), ('dcso', 'dcso')]
for format, kind in FORMATS:
    for name, keys in (('f', 'keys'), ('g', 'others')):
        need('build', '-qf', 'i.tamis', keys, '--spec', f'{kind}:capacity=1000')
        need('convert', '-qf', 'i.tamis', name, '--to', format)
    meddle(f'convert --from {format}, {kind}', ['convert', '-q', 'f', 'out', '--from', format], 'f', 'g', ['out'])
for format, first, second in (('parquet:column=w', 'parquet/duckdb_small.parquet', 'parquet/duckdb_types.parquet'),
                              ('rocksdb-sst', 'rocksdb/fast_10bpk_11keys.sst', 'rocksdb/ribbon_10bpk_240keys.sst')):
    for name, path in (('f', first), ('g', second)):
        shutil.copy(os.path.join(ROOT, 'tests', 'vectors', path), name)
    meddle(f'convert --from {format}', ['convert', '-q', 'f', 'out', '--from', format], 'f', 'g', ['out'])

print(f'1..{number}')
shutil.rmtree(work)
sys.exit(failed > 0)
