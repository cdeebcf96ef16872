# SPDX-License-Identifier: MIT
# Every verb that reads keys knows forms of several keys, or refuses them before it writes anything.
echo 10.0.0.0/8 >list
tamis build -q set.tamis list --canon cidr -n 100
tamis build -q spectral.tamis list --canon cidr -n 100 -k spectral
tamis build -q labels.tamis list --canon cidr -k labels
try() { echo "-- $*"; tamis "$@" <list; echo "exit $?"; }
verbs=
for verb in $(tamis help more 2>/dev/null | sed -n '/^Topics:/q; s/^  *\([a-z-]*\)  .*/\1/p' | sort -u) \
    build create add remove check count get put label uniq admit semijoin reconcile sketch similar \
    features doctor partition neighbours cluster bench publish watch; do
    case " $verbs " in *" $verb "*) continue ;; esac
    tamis help "$verb" 2>/dev/null | grep -q -e ' --canon' && verbs="$verbs $verb"
done
known="build create add remove check count get put label uniq admit semijoin reconcile sketch similar features doctor partition neighbours cluster bench publish watch"
for verb in $verbs; do
    case " $known " in *" $verb "*) ;; *) echo "$verb reads keys: add it here" ;; esac
done
try build -q new.tamis list --canon cidr
try create -q created.tamis --canon cidr -n 100
try add -q new.tamis list
try add --new new.tamis list
try check new.tamis list
try check -v new.tamis list
try doctor -q new.tamis --members list
mkdir feeds && cp list feeds/nets.txt
try publish -q feeds out --canon cidr
echo 10.1.1.1 | tamis check out/nets.tamis
echo 10.1.1.1 >log
try watch -q -m 1 --from-start new.tamis log
try label -q labels.tamis more list
try count spectral.tamis list
try count --top 2 list --canon cidr
try get set.tamis list
try put set.tamis list
try build x.tamis list --canon cidr --values
try build x.tamis list --canon cidr --exclude list
try uniq list --canon cidr
try uniq --exact list --canon cidr
try admit list --canon cidr
try semijoin list list --canon cidr
try semijoin --exact list list --canon cidr
try reconcile list list --canon cidr
try sketch x.tamis list --canon cidr
try similar list list --canon cidr
try features list --canon cidr
try partition list -n 100 --shards 2 --canon cidr
try bench --image set.tamis list
try build --shard 0/2 --strict -n 100 x.tamis list --canon cidr
ls x.tamis 2>/dev/null
echo "-- shards, whole and by hashes"
seq -f '10.%g.0.0/16' 0 99 >many
tamis build -q whole.tamis many --canon cidr -k blocked -n 2000
for i in 0 1; do tamis build -q part$i many --canon cidr -k blocked -n 2000 --shard $i/2; done
tamis assemble -q part0 part1 -o whole2.tamis && cmp whole.tamis whole2.tamis && tamis check -c whole2.tamis many
tamis partition -q many -k blocked -n 2000 --shards 2 --canon cidr --packed -o dir
for i in 0 1; do tamis build -q -f part$i dir/$i.hashes --packed --canon cidr -k blocked -n 2000 --shard $i/2; done
tamis assemble -q part0 part1 -o whole3.tamis && echo 10.50.1.1 | tamis check whole3.tamis
tamis info --json whole3.tamis | grep -o '"question_keys": [0-9]*'
