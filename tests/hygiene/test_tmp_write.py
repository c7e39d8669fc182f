import time, random, pytest
from statistics import median
from memories.services import watching
from hygiene.services import watch
from tests.factories import *
from memories.services import add_memory
WORDS=[f"{a}{b}" for a in "deploy port api proxy cache queue token index shard retry lock batch stream parse route build test lint merge review".split() for b in ("","s","ing","er","x","y","z","able","ment","ness")]
@pytest.mark.django_db
def test_w(project, alice):
    rnd=random.Random(1)
    def add(n):
        t=" ".join(rnd.choices(WORDS,k=5))+f" {n}"
        add_memory(actor=person(alice), project=project, title=t, summary=" ".join(rnd.choices(WORDS,k=20)), body=" ".join(rnd.choices(WORDS,k=250)), kind="fact", tags=rnd.sample(["a","b","c","d"],2))
    for n in range(1500): add(n)
    for name, ws in (("with", list(watching._watchers)), ("without", [w for w in watching._watchers if w is not watch]), ("with", list(watching._watchers))):
        watching._watchers[:] = ws
        times=[]
        for n in range(150):
            t=time.perf_counter(); add(rnd.random()); times.append(time.perf_counter()-t)
        print(name, f"{median(times)*1e3:.1f} ms")
    watching._watchers[:] = ws
