"""What the files hold: `digest.content_digest` of their arrays, by name of the public file."""

CONTENTS = {
    "a1a": "e43dd0826860929ae05e91d2f3e15a06494b7b2c110195c3df395da1a46fe863",
    "a1a.t": "dc7b9f494d739a9aff5fe975006e810cc7b3a6d1873f1ff5b75ae2795166031c",
    "australian": "76552f9970b170c44ba931818c6c5baca021b9e83485be392dd33daecacb4c34",
    "cod-rna": "ce3fd304fbb8e538648aa22bea506fb536515527c53befffb0e09f120c32186b",
    "COIL20.mat": "d33ef2df2b1775401ae3602f15339fe9b0bf87f82665ec83d25e0f9e55f94e89",
    "covtype.data.gz": "ea4d69290ba192eac196c45eadbc34abb63c1ea3f25aba39ee2227e42560536f",
    "g50c.mat": "446d0b94c5fe50c541a405e0eba4e2a76a5c8f97c9356c80f195ebc817bdefbb",
    "ijcnn1.bz2": "d7757a50aaeab865cd7b03ab9dfcc3d30d9f96c82e04214cfad7e423e843a458",
    "mnist/train-images-idx3-ubyte.gz": (
        "211522e3d29e98892254a5a9ad64005e8b9b6b77254a107a1395f8019adbeef2"
    ),
    "mnist/train-labels-idx1-ubyte.gz": (
        "48585e19dccf3053cd45edd37e891319d5f90910bf02e75ede6579c8cccf2bcd"
    ),
    "mnist/t10k-images-idx3-ubyte.gz": (
        "26f6f41426604f9e87b261a00c9adbd4fed38054aacddd6aa02743101ff4685c"
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": (
        "aca0689cfc171b4e7cde5110646e5450ef6fea2bab46364b9ee9981196a16a15"
    ),
    "mushrooms": "3218af45a53b9cdb982f703317766fe5508d6d93b622971437f927642ee223bc",
    "ssl-book/SSL,set=1,data.mat": (
        "c9a8092b46b1aa1d7d8f2d9eeae3b99934932991d1ca9d66de954e1ce00fbd74"
    ),
    "ssl-book/SSL,set=1,splits,labeled=10.mat": (
        "77a3992b4433bd71bc5891080d3a664878e5f69dd1bc029d30404571a78c8919"
    ),
    "ssl-book/SSL,set=1,splits,labeled=100.mat": (
        "7702dceeed058f580482a9572b2fe8fac1b553df2b37b8c30d597ce59acb102b"
    ),
    "ssl-book/SSL,set=5,data.mat": (
        "2b54635db78a9113e62124e10282acc4bf2ca73385a5c8732e8f60453347e19c"
    ),
    "ssl-book/SSL,set=5,splits,labeled=10.mat": (
        "48cba174b61579af9ca19f99f979d31cc358ebab86dc61da07c017f9a277ac27"
    ),
    "ssl-book/SSL,set=5,splits,labeled=100.mat": (
        "44c8b01a6e3c888479c84e3b55a47fc4c1efe80a3bf02e42b605f472287ca784"
    ),
    "ssl-book/SSL,set=9,data.mat": (
        "91a1dd3deea4d35d433f880474784738ba9e2dec48225ab82a15f1825b316ce3"
    ),
    "ssl-book/SSL,set=9,splits,labeled=10.mat": (
        "97e1d2355d637af5e9aafc86350f0f5e636ed4a85ad614b0526732f83040c951"
    ),
    "ssl-book/SSL,set=9,splits,labeled=100.mat": (
        "0503b6c13d4be591917238d76e42ce978883ef05e4ecd4b4fd333c9538cf075c"
    ),
    "ssl-book/SSL,set=2,data.mat": (
        "c20396a63dc7eec97f6a26b2bec7a97a4e031566751cd6537208d07a1c0e1f4e"
    ),
    "ssl-book/SSL,set=2,splits,labeled=10.mat": (
        "5773a4845b6716c0547184b1e653e823eae87e00f12ee6bb1531789dc038ba84"
    ),
    "ssl-book/SSL,set=2,splits,labeled=100.mat": (
        "ca3350fa89b3427f3249cb0d98b77ada0f0f78e3d119838b81c9148717d16563"
    ),
    "svmguide1": "95538777f7e2cc43d967160abf1ed297cc94fe77f7e926b456b4ba49df388ff5",
    "svmguide1.t": "f2660b4536e65fe8810b551690eb01c0146483b66715774a300bc9546fb19626",
    "svmguide2": "0694b07a645623bd467e928e3bbaab601aee6a831fa97b2c606b45fabd32d423",
    "svmguide3": "790bc80a2c846edefc2fe053be49c5a9f780bd5e233ecef1d39943136dc97ce5",
    "usps.bz2": "b336f3feaae44f812aca149300df0cc4660fb8f881795a122c746d493777b6a6",
    "usps.t.bz2": "9ee840c2925a5e3d261a6d460f015be9e498b798ca71b1268d7a83193ce5195a",
    "uspst.mat": "bf8a267bf8b174afecb2382ca29556724993966a28ea8234ef7a365adb78150a",
    "w5a": "d70f34d9164c7f713fc5e3c55d446d101aa0a2442052b21472cb224eb1e66377",
    "w8a": "7f62bbbef3f6e71107d75403989d6fae7d54d05d583b6f363655567619980c76",
}
